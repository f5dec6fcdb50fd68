// The page: asks the API beside it, shows what comes. No library, nothing from elsewhere.
"use strict";

const NAMES = { complete: "Write", score: "Score", predict: "Predict", correct: "Correct", translate: "Translate",
  near: "Near words", analogy: "Analogy",
  draw: "Draw", forecast: "Forecast", embed: "Embed" };
const DARKEST = 8; // nats at which a token is as surprising as the colours can show

const $ = (where, from = document) => from.querySelector(where);
const all = (where, from = document) => [...from.querySelectorAll(where)];
let runs = [], run = null, key = sessionStorage.getItem("foresay-key") || "", stopper = null;

function made(tag, text, name) {
  const found = document.createElement(tag);
  if (text !== undefined) found.textContent = text;
  if (name) found.className = name;
  return found;
}

// Asking

async function asked(path, body, signal) {
  const headers = { "content-type": "application/json" };
  if (key) headers.authorization = `Bearer ${key}`;
  const answer = await fetch(`/v1/${path}`, { method: body ? "POST" : "GET", headers, body: body && JSON.stringify(body), signal });
  if (answer.status === 401) locked(true);
  if (!answer.ok) throw new Error((await answer.json().catch(() => null))?.error?.message || `status ${answer.status}`);
  return answer;
}

async function* events(answer) {
  const reader = answer.body.pipeThrough(new TextDecoderStream()).getReader();
  let rest = "";
  for (;;) {
    const { value, done } = await reader.read();
    if (done) return;
    const parts = (rest + value).split("\n\n");
    rest = parts.pop();
    for (const part of parts) {
      if (part === "data: [DONE]") return;
      const found = JSON.parse(part.replace(/^data: /, ""));
      if (found.error) throw new Error(found.error.message);
      yield found;
    }
  }
}

function fault(error) {
  $("#fault").textContent = error ? error.message : "";
  $("#fault").hidden = !error;
}

// Tokens by colour, and the card over one of them

function percent(p) {
  if (p > 0 && p < 1e-6) return "< 0.0001 %";
  return `${(100 * p).toFixed(p >= 0.0995 ? 1 : p >= 0.00095 ? 2 : 4)} %`;
}

function visible(text) {
  return text.replaceAll("\n", "⏎").replaceAll("\t", "⇥").replaceAll(" ", "␣") || "(nothing)";
}

function token(text, nats, top, name) {
  const found = made("span", text, "token");
  const heat = nats === null ? 100 : Math.min(Math.max(nats, 0) / DARKEST, 1) * 75;
  found.style.setProperty("--h", heat.toFixed(1));
  Object.assign(found, { nats, top, piece: name ?? text });
  return found;
}

function bars(rows) { // [name, share of the width, label, chosen]
  const found = made("div", undefined, "bars");
  for (const [name, share, label, chosen] of rows) {
    const bar = made("i");
    bar.style.width = `${Math.max(0, Math.min(1, share)) * 100}%`;
    found.append(made("span", name, chosen ? "chosen" : ""), bar, made("b", label));
  }
  return found;
}

function cardOf(of) {
  const p = of.nats === null ? 0 : Math.exp(-of.nats);
  const rows = Object.entries(of.top || {}).map(([name, log]) => [name, Math.exp(log)]).sort((a, b) => b[1] - a[1]);
  if (!rows.some(([name]) => name === of.piece)) rows.push([of.piece, p]);
  const found = made("div");
  found.append(made("div", of.nats === null ? "probability 0" : `${of.nats.toFixed(2)} nats`, "quiet"),
    bars(rows.map(([name, share]) => [visible(name), share, percent(share), name === of.piece])));
  return found;
}

function showCard(of) {
  all(".token.at").forEach((one) => one.classList.remove("at"));
  const card = $("#card");
  card.hidden = !of;
  if (!of) return;
  of.classList.add("at");
  card.replaceChildren(cardOf(of));
  const box = of.getClientRects()[0] || of.getBoundingClientRect(), wide = document.documentElement.clientWidth;
  card.style.left = `${Math.max(8, Math.min(box.left, wide - card.offsetWidth - 8)) + scrollX}px`;
  const below = box.bottom + card.offsetHeight + 6 < innerHeight || box.top < card.offsetHeight + 6;
  card.style.top = `${(below ? box.bottom + 6 : box.top - card.offsetHeight - 6) + scrollY}px`;
}

function listen(out) {
  const at = (event) => event.target.closest(".token");
  out.addEventListener("pointerover", (event) => at(event) && showCard(at(event)));
  out.addEventListener("pointerleave", (event) => event.pointerType === "mouse" && showCard(null));
  out.addEventListener("click", (event) => at(event) && showCard(at(event)));
  out.addEventListener("blur", () => showCard(null));
  out.addEventListener("keydown", (event) => {
    const step = { ArrowRight: 1, ArrowLeft: -1, Escape: 0 }[event.key];
    if (step === undefined) return;
    event.preventDefault();
    const tokens = all(".token", out), now = tokens.findIndex((one) => one.classList.contains("at"));
    showCard(step ? tokens[Math.max(0, Math.min(tokens.length - 1, now + step))] : null);
  });
}

// What each tab does: values of the form, where to show, where to tell

const DO = {
  async complete(given, out, told, section) {
    const body = { model: run.id, prompt: given.prompt, max_tokens: Number(given.max_tokens) };
    const source = run.can.includes("translate");
    if (!source) {
      Object.assign(body, { temperature: Number(given.temperature), top_p: Number(given.top_p), stream: true, logprobs: 5 });
      if (given.seed !== "") body.seed = Number(given.seed);
      if (run.labels?.length) body.label = given.label;
    }
    if (source) {
      const found = await (await asked("completions", body)).json();
      out.replaceChildren(made("span", found.choices[0].text));
      told.textContent = (found.warnings || []).join("; ");
      return;
    }
    out.replaceChildren(made("span", given.prompt, "mark"));
    stopper = new AbortController();
    const [stop, on] = [$(".stop", section), $(".on", section)], began = performance.now();
    let number = 0, nats = 0, reason = "stopped";
    stop.disabled = false;
    on.disabled = true;
    const tell = () => {
      const seconds = (performance.now() - began) / 1000;
      told.textContent = `${number} tokens, ${(number / seconds).toFixed(0)} a second` +
        (number ? `, ${(nats / number).toFixed(2)} nats each` : "") + (reason === "stop" ? "; it ended by itself" : "");
    };
    try {
      for await (const found of events(await asked("completions", body, stopper.signal))) {
        const { text, logprobs, finish_reason } = found.choices[0];
        if (logprobs?.tokens.length) {
          const lost = -logprobs.token_logprobs[0];
          out.append(token(text, lost, logprobs.top_logprobs[0], logprobs.tokens[0]));
          [number, nats] = [number + 1, nats + lost];
        } else if (text) out.append(made("span", text));
        reason = finish_reason || reason;
        tell();
      }
    } catch (error) {
      if (error.name !== "AbortError") throw error;
    } finally {
      stop.disabled = true;
      on.disabled = out.textContent === "";
      tell();
    }
  },

  async score(given, out, told) {
    const source = run.can.includes("translate");
    const body = { model: run.id, input: source ? [[given.source, given.input]] : given.input };
    if (run.labels?.length) body.label = given.label;
    const { data: [found] } = await (await asked("score", body)).json();
    out.replaceChildren();
    let at = 0;
    for (const { token: piece, nats } of found.tokens) {
      const place = piece ? given.input.indexOf(piece, at) : -1;
      if (place >= 0 && given.input.slice(at, place).trim() === "") {
        out.append(given.input.slice(at, place), token(piece, nats, null));
        at = place + piece.length;
      } else out.append(" ", token(visible(piece), nats, null, piece)); // <unk>, <stop>, half a character
    }
    const sum = found.nats === null ? "impossible: probability 0" : `-log P ${found.nats.toFixed(2)} nats, perplexity ${found.perplexity.toFixed(2)}`;
    told.textContent = `${found.tokens.length} tokens, ${sum}` + (found.pseudo ? "; each given all others" : "");
  },

  async predict(given, out) {
    const { data: [found] } = await (await asked("predict", { model: run.id, input: given.input })).json();
    out.replaceChildren();
    if (found.words) {
      const list = made("div", undefined, "words");
      found.words.forEach((word, n) => {
        const one = made("span", word, found.tags[n] === "O" ? "outside" : "");
        one.append(made("small", found.tags[n]), made("small", percent(found.probabilities[n]), "quiet"));
        list.append(one);
      });
      out.append(list);
      return;
    }
    const rows = Object.entries(found.probabilities).sort((a, b) => b[1] - a[1]);
    out.append(made("h2", found.label ?? (found.labels.join(", ") || "none")),
      bars(rows.map(([name, p]) => [name, p, percent(p), name === found.label || found.labels?.includes(name)])));
  },

  async correct(given, out, told) {
    const { data: [found] } = await (await asked("correct", { model: run.id, input: given.input })).json();
    out.replaceChildren();
    const letters = [...found.given]; // places count characters, not JavaScript's units
    let at = 0;
    for (const { begin, end, before, after } of found.changes) {
      out.append(letters.slice(at, begin).join(""), made("del", before), made("ins", after));
      at = end;
    }
    out.append(letters.slice(at).join(""));
    const saved = `-log P ${found.before.toFixed(2)} → ${found.after.toFixed(2)} nats`;
    told.textContent = found.changes.length ? `${found.text}  (${saved})` : `nothing to correct (${found.before.toFixed(2)} nats)`;
  },

  async translate(given, out, told) {
    const input = given.input.split("\n").filter((line) => line.trim());
    const found = await (await asked("translate", { model: run.id, input, beam: Number(given.beam) })).json();
    out.replaceChildren(made("span", found.data.map((one) => one.text).join("\n")));
    told.textContent = (found.warnings || []).join("; ");
  },

  async near(given, out) {
    const { data } = await (await asked("words/near", { model: run.id, input: given.input.trim().split(/\s+/) })).json();
    out.replaceChildren(...data.flatMap((one) => [made("h2", one.word), cosines(one.near)]));
  },

  async analogy(given, out) {
    const { data } = await (await asked("words/analogy", { model: run.id, a: given.a, b: given.b, c: given.c })).json();
    out.replaceChildren(cosines(data));
  },

  async draw(given, out, told) {
    const body = { model: run.id, number: Number(given.number), temperature: Number(given.temperature) };
    if (given.seed !== "") body.seed = Number(given.seed);
    if (run.labels?.length) body.label = given.label;
    const found = await (await asked("draw", body)).json();
    out.replaceChildren(...found.data.map((one, n) => drawn(one, n + 1)));
    told.textContent = `seed ${found.seed}`;
  },

  async forecast(given, out, told) {
    const rows = given.input.split("\n").map((line) => line.trim());
    while (rows.length && rows.at(-1) === "") rows.pop(); // above, an empty line is a step that is not known
    const input = rows.map((line) => line.split(",").map((one) => figure(one.trim())));
    const body = { model: run.id, input, paths: Number(given.paths), seed: Number(given.seed) };
    if (given.steps !== "") body.steps = Number(given.steps);
    const { columns, data: [{ mean, quantiles }], paths } = await (await asked("forecast", body)).json();
    const shares = Object.keys(quantiles);
    const lines = mean.flatMap((step, t) => step.map((value, d) =>
      [t + 1, columns[d], value, ...shares.map((share) => quantiles[share][t][d])]));
    out.replaceChildren(table(["step", "column", "mean", ...shares], lines));
    told.textContent = `${paths} paths`;
  },

  async embed(given, out, told) {
    const { data: [{ embedding }], warnings } = await (await asked("embeddings", { model: run.id, input: given.input })).json();
    out.replaceChildren(made("span", embedding.map((one) => one.toPrecision(4)).join(" ")));
    told.textContent = [`${embedding.length} numbers`, ...(warnings || [])].join("; ");
  },
};

function figure(text) {
  const found = text === "" ? null : Number(text);
  if (Number.isNaN(found)) throw new Error(`${text} is no number; allowed: numbers with a point, such as 3.5, commas between them`);
  return found;
}

function drawn(one, number) { // a picture, a sound, or a series, with its file
  if (one.png) {
    const found = made("img");
    Object.assign(found, { src: `data:image/png;base64,${one.png}`, alt: `picture ${number}` });
    found.style.width = `${one.columns * Math.max(1, Math.floor(128 / Math.max(one.rows, one.columns)))}px`;
    return found;
  }
  if (one.wav) {
    const found = made("audio");
    Object.assign(found, { src: `data:audio/wav;base64,${one.wav}`, controls: true });
    found.setAttribute("aria-label", `sound ${number}, ${one.seconds} seconds`);
    return found;
  }
  const csv = [one.columns, ...one.values].map((row) => row.join(",")).join("\n") + "\n";
  const found = made("a", `series ${number}${one.midi ? ".mid" : ".csv"}`);
  found.href = one.midi ? `data:audio/midi;base64,${one.midi}` : `data:text/csv;charset=utf-8,${encodeURIComponent(csv)}`;
  found.download = found.textContent;
  return found;
}

function table(names, lines) {
  const found = made("table"), head = made("tr");
  head.append(...names.map((name) => made("th", name)));
  found.append(head, ...lines.map((line) => {
    const row = made("tr");
    row.append(...line.map((one) => made("td", typeof one === "number" ? String(Number(one.toPrecision(6))) : one ?? "not known")));
    return row;
  }));
  return found;
}

function cosines(found) {
  return bars(found.map(({ word, score }) => [word, score, score.toFixed(4)]));
}

// Choosing

function choose(way) {
  all("section").forEach((one) => { one.hidden = one.dataset.way !== way; });
  all("#tabs button").forEach((one) => one.setAttribute("aria-selected", String(one.dataset.way === way)));
  showCard(null);
  fault(null);
}

function take(name) {
  run = runs.find((one) => one.id === name);
  stopper?.abort();
  const source = run.can.includes("translate"), labels = run.labels || [];
  $("#task").textContent = run.data || run.task;
  $("#tabs").replaceChildren(...run.can.map((way) => {
    const tab = made("button", NAMES[way]);
    Object.assign(tab, { type: "button", onclick: () => choose(way) });
    tab.dataset.way = way;
    tab.setAttribute("role", "tab");
    return tab;
  }));
  all(".of-runs").forEach((one) => { one.hidden = source; });
  all(".of-sources").forEach((one) => { one.hidden = !source; });
  all(".of-labels").forEach((one) => { one.hidden = !labels.length; });
  all("select[name=label]").forEach((one) => one.replaceChildren(...labels.map((label) => made("option", label))));
  all("[data-heat]").forEach((one) => { one.hidden = source && one.closest("section").dataset.way === "complete"; });
  $(".name-of-text").textContent = source ? "Source" : "Begin with";
  all(".out, .told").forEach((one) => one.replaceChildren());
  all(".on").forEach((one) => { one.disabled = true; one.hidden = source; });
  all(".stop").forEach((one) => { one.hidden = source; });
  $("#none").hidden = run.can.length > 0;
  $("#none").textContent = run.can.length ? "" :
    `${run.id} is of ${run.data || `task ${run.task}`}, which this page has nothing for; use ${run.command}.`;
  choose(run.can[0]);
}

function locked(is) {
  $("#locked").hidden = !is;
  $("#main").hidden = is;
}

async function begin() {
  fault(null);
  try {
    runs = (await (await asked("models")).json()).data;
    locked(false);
    $("#run").replaceChildren(...runs.map((one) => made("option", one.id)));
    take(runs[0].id);
  } catch (error) {
    if ($("#locked").hidden || key) fault(error);
  }
}

$("#run").addEventListener("change", (event) => take(event.target.value));
$("#locked").addEventListener("submit", (event) => {
  event.preventDefault();
  key = $("#key").value;
  sessionStorage.setItem("foresay-key", key);
  begin();
});
for (const section of all("section")) {
  const [form, out, told, button] = [".out", ".told", ".main"].reduce((found, where) => [...found, $(where, section)], [$("form", section)]);
  if (out.classList.contains("text")) listen(out);
  const go = async () => {
    fault(null);
    showCard(null);
    told.textContent = "";
    button.disabled = true;
    try {
      await DO[section.dataset.way](Object.fromEntries(new FormData(form)), out, told, section);
    } catch (error) {
      fault(error);
    }
    button.disabled = false;
  };
  form.addEventListener("submit", (event) => { event.preventDefault(); go(); });
  $(".stop", section)?.addEventListener("click", () => stopper?.abort());
  $(".on", section)?.addEventListener("click", () => { form.elements.prompt.value = out.textContent; go(); });
}
document.addEventListener("pointerdown", (event) => event.target.closest(".token") || showCard(null));
begin();
