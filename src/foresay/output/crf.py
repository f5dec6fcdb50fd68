"""Linear-chain conditional random field (Lafferty et al. 2001): P(y | x) over whole sequences of tags.

    s(x, y)     = b[y_1] + sum_t e_t[y_t] + sum_{t>1} A[y_{t-1}, y_t] + c[y_T]        e_t from an encoder
    log P(y|x)  = s(x, y) - log Z,   log Z = log sum_y exp s(x, y)

    alpha_1 = b + e_1,   alpha_t[j] = e_t[j] + log sum_i exp(alpha_{t-1}[i] + A[i, j])
    beta_T  = c,         beta_t[i]  = log sum_j exp(A[i, j] + e_{t+1}[j] + beta_{t+1}[j])
    log P(y_t | x)          = alpha_t + beta_t - log Z
    log P(y_t | y_{t-1}, x) = A[y_{t-1}, y_t] + e_t[y_t] + beta_t[y_t] - beta_{t-1}[y_{t-1}]

The last are what `log_prob` gives: they sum to log P(y | x) over a row. Viterbi is alpha with max for the sum. All is
in log space, over all rows at once; padding, on the right, changes nothing. Compiled loops on a CPU, kernels on a GPU
do the training loss, Viterbi and the marginals (kernels/chain.py); what stands here is their plain twin. `Apart` is the
same without A, b and c: every tag by itself, a softmax. Tags that write spans have rules (`Chain` of 0 and FORBIDDEN,
added to A, b and c): the best sequence is then the best of those that keep them.

scores e (B, T, K), tags (B, T), mask (B, T) -> (B, T); K tags.
"""

from __future__ import annotations

import torch
from torch import Tensor, nn

from foresay.kernels import chain as loops
from foresay.kernels import chain_rolled as rolled
from foresay.kernels.switch import in_file

FORBIDDEN = -1e9  # beyond any score, and no infinity: sums of it stay numbers


class Apart(nn.Module):
    """Every tag by itself: P(y | x) = prod_t softmax(e_t)[y_t]."""

    def log_prob(self, scores: Tensor, tags: Tensor, mask: Tensor | None = None) -> Tensor:
        """log P of each tag, (B, T), 0 where masked."""
        found = scores.log_softmax(-1).gather(-1, tags[..., None])[..., 0]
        return found if mask is None else found.masked_fill(~mask, 0.0)

    def marginals(self, scores: Tensor, mask: Tensor | None = None) -> Tensor:
        """log P(y_t | x) of all tags, (B, T, K)."""
        return scores.log_softmax(-1)

    @torch.no_grad()
    def best(self, scores: Tensor, mask: Tensor | None = None, rules: loops.Chain | None = None) -> Tensor:
        """The most probable sequence of tags, (B, T); any where masked."""
        return scores.argmax(-1) if rules is None else viterbi(scores.log_softmax(-1), mask, rules)


class CRF(nn.Module):
    """A chain: tags depend on their neighbours."""

    def __init__(self, tags: int):
        super().__init__()
        self.transitions = nn.Parameter(torch.zeros(tags, tags))  # from row to column
        self.begins = nn.Parameter(torch.zeros(tags))
        self.ends = nn.Parameter(torch.zeros(tags))

    @property
    def chain(self) -> loops.Chain:
        return self.transitions, self.begins, self.ends

    def log_likelihood(self, scores: Tensor, tags: Tensor, mask: Tensor | None = None) -> Tensor:
        """log P(y | x) of each row, (B,); 0 for an empty one."""
        if loops.runs_here(scores, self.chain):
            return loops.log_likelihood(scores, tags, _sizes(scores, mask), self.chain)
        real = _real(scores, mask)
        if not scores.shape[1]:
            return scores.new_zeros(len(scores))
        own = scores.gather(-1, tags[..., None])[..., 0]
        moved = self.transitions[tags[:, :-1], tags[:, 1:]]
        total = own.masked_fill(~real, 0.0).sum(1) + moved.masked_fill(~real[:, 1:], 0.0).sum(1)
        last = tags.gather(1, (real.sum(1, keepdim=True) - 1).clamp(min=0))[:, 0]
        found = total + self.begins[tags[:, 0]] + self.ends[last] - self.normaliser(scores, mask)
        return found.masked_fill(~real[:, 0], 0.0)

    def normaliser(self, scores: Tensor, mask: Tensor | None = None) -> Tensor:
        """log Z of each row, (B,)."""
        return (self._forwards(scores, _real(scores, mask))[-1] + self.ends).logsumexp(-1)

    def log_prob(self, scores: Tensor, tags: Tensor, mask: Tensor | None = None) -> Tensor:
        """log P of each tag given the one before it and x, (B, T), 0 where masked."""
        real = _real(scores, mask)
        if not scores.shape[1]:
            return scores.new_zeros(tags.shape)
        after = self._backwards(scores, real)
        onward = after.gather(-1, tags[..., None])[..., 0]
        found = scores.gather(-1, tags[..., None])[..., 0] + onward
        first = found[:, :1] + self.begins[tags[:, :1]] - self._whole(scores, after)[:, None]
        moved = found[:, 1:] + self.transitions[tags[:, :-1], tags[:, 1:]] - onward[:, :-1]
        return torch.cat([first, moved], 1).masked_fill(~real, 0.0)

    def marginals(self, scores: Tensor, mask: Tensor | None = None) -> Tensor:
        """log P(y_t | x) of all tags, (B, T, K); of no meaning where masked."""
        if not scores.shape[1]:
            return scores
        if not torch.is_grad_enabled() and loops.runs_here(scores, self.chain):
            return loops.marginals(scores, _sizes(scores, mask), self.chain)
        real = _real(scores, mask)
        after = self._backwards(scores, real)
        before = torch.stack(self._forwards(scores, real), 1)
        return before + after - self._whole(scores, after)[:, None, None]

    def filtered(self, scores: Tensor, mask: Tensor | None = None) -> Tensor:
        """log P(y_t | x_1 .. x_t), (B, T, K): alpha as shares, where scores and transitions are log P (models/hmm.py).

        There what comes after t sums to 1, whatever y_t is; in a chain that was trained whole it does not.
        """
        if not scores.shape[1]:
            return scores
        return torch.stack(self._forwards(scores, _real(scores, mask)), 1).log_softmax(-1)

    @torch.no_grad()
    def best(self, scores: Tensor, mask: Tensor | None = None, rules: loops.Chain | None = None) -> Tensor:
        """The most probable sequence of tags, (B, T), by Viterbi; any where masked."""
        a, b, c = self.chain
        return viterbi(scores, mask, (a, b, c) if rules is None else (a + rules[0], b + rules[1], c + rules[2]))

    def _forwards(self, scores: Tensor, real: Tensor) -> list[Tensor]:
        """alpha of every step, each (B, K); a masked step keeps the one before."""
        found = [self.begins + scores[:, 0]] if scores.shape[1] else [self.begins.expand(len(scores), -1)]
        for t in range(1, scores.shape[1]):
            reached = (found[-1][:, :, None] + self.transitions).logsumexp(1) + scores[:, t]
            found.append(reached.where(real[:, t, None], found[-1]))
        return found

    def _backwards(self, scores: Tensor, real: Tensor) -> Tensor:
        """beta of every step, (B, T, K)."""
        found = [self.ends.expand(len(scores), -1)]
        for t in range(scores.shape[1] - 1, 0, -1):
            onward = ((scores[:, t] + found[-1])[:, None, :] + self.transitions).logsumexp(2)
            found.append(onward.where(real[:, t, None], self.ends))
        return torch.stack(found[::-1], 1)

    def _whole(self, scores: Tensor, after: Tensor) -> Tensor:
        """log Z by beta, (B,)."""
        return (self.begins + scores[:, 0] + after[:, 0]).logsumexp(-1)


def path_score(scores: Tensor, tags: Tensor, mask: Tensor, chain: loops.Chain) -> Tensor:
    """s(x, y) (B,) of tags (B, T); rows have a real step."""
    transitions, begins, ends = chain
    own = scores.gather(-1, tags[..., None])[..., 0].masked_fill(~mask, 0.0).sum(1)
    moved = transitions[tags[:, :-1], tags[:, 1:]].masked_fill(~mask[:, 1:], 0.0).sum(1)
    last = tags.gather(1, mask.sum(1, keepdim=True) - 1)[:, 0]
    return own + moved + begins[tags[:, 0]] + ends[last]


def viterbi(scores: Tensor, mask: Tensor | None, chain: loops.Chain) -> Tensor:
    """The tags (B, T) whose scores and transitions have the greatest sum; any where masked."""
    if in_file():
        return rolled.viterbi(scores, _real(scores, mask), chain)
    if loops.runs_here(scores, chain):
        return loops.best(scores, _sizes(scores, mask), chain)
    (transitions, begins, ends), real, steps = chain, _real(scores, mask), scores.shape[1]
    if not steps:
        return torch.zeros(scores.shape[:2], dtype=torch.long, device=scores.device)
    stay = torch.arange(scores.shape[-1], device=scores.device)
    reached, came = begins + scores[:, 0], []
    for t in range(1, steps):
        most, where = (reached[:, :, None] + transitions).max(1)
        now = real[:, t, None]
        came.append(where.where(now, stay))
        reached = (most + scores[:, t]).where(now, reached)
    path = [(reached + ends).argmax(-1)]
    for where in reversed(came):
        path.append(where.gather(1, path[-1][:, None])[:, 0])
    return torch.stack(path[::-1], 1)


def _real(scores: Tensor, mask: Tensor | None) -> Tensor:
    return mask if mask is not None else torch.ones(scores.shape[:2], dtype=torch.bool, device=scores.device)


def _sizes(scores: Tensor, mask: Tensor | None) -> Tensor:
    return mask.sum(1) if mask is not None else torch.full((len(scores),), scores.shape[1], device=scores.device)
