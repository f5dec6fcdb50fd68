"""Libraries that only some capabilities need."""

import pytest

from foresay.errors import UserError
from foresay.extras import need


def test_what_is_installed_is_imported():
    assert need("json", "files", "JSON").loads("1") == 1


def test_what_is_not_says_how_to_install_it():
    with pytest.raises(UserError, match=r"segment=jiebo needs the library jiebo \(.*\); .*pip install 'foresay\[zh\]'"):
        need("jiebo.cut", "zh", "segment=jiebo")
