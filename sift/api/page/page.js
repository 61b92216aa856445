// The page's script: asks /v1 with the tab's token and shows what it says. Whatever was fetched is set as text
// (textContent), never as markup; the page's Content-Security-Policy forbids anything else.

const KEY = "sift-token";
const LIVE = new Set(["queued", "running"]);
const WAIT_S = 30;
const LIST_EVERY_MS = 5000;
const AWAY_MS = 3000;
const HINTS = {
  retry: "It may work later.",
  recover: "An archive may have a copy: tick “take an archived copy”.",
  browser: "It takes a real browser to read this page.",
  blocked: "Sift does not go there; a private address is not to be opened in a browser either.",
  jq: "It is too much JSON at once: ask for a part of it with jq.",
  pages: "It was cut: ask for some of its pages.",
  grep: "It was cut: ask for the lines that matter with grep.",
  question: "It was cut: ask a question to get the passages that matter.",
};

const at = (id) => document.getElementById(id);
const pause = (ms) => new Promise((resume) => setTimeout(resume, ms));
const token = () => sessionStorage.getItem(KEY);

class Refused extends Error {
  constructor(status, body) {
    super(body.error ?? `the server answered ${status}`);
    this.status = status;
    this.body = body;
  }
}

async function ask(method, path, { body, tag, signal } = {}) {
  const headers = { Authorization: `Bearer ${token()}` };
  if (body) headers["Content-Type"] = "application/json";
  if (tag) headers["If-None-Match"] = tag;
  const answer = await fetch(path, {
    method, headers, signal, body: body && JSON.stringify(body),
    cache: "no-store", credentials: "omit", redirect: "error",
  });
  if (answer.status === 304) return { tag, answer };
  const said = await answer.json().catch(() => ({}));
  if (!answer.ok) throw new Refused(answer.status, said);
  return { said, tag: answer.headers.get("ETag"), answer };
}

// --- the door: a token, kept in this tab

function showDoor(error = "") {
  sessionStorage.removeItem(KEY);
  watching?.abort();
  at("desk").hidden = at("forget").hidden = true;
  at("door").hidden = false;
  at("token").value = "";
  at("token-error").textContent = error;
  at("token").focus();
}

async function enter() {
  await listJobs();
  at("door").hidden = true;
  at("desk").hidden = at("forget").hidden = false;
  openJob();
}

async function goIn() {
  while (token() && at("desk").hidden) {
    await orTrouble(enter);
    if (token() && at("desk").hidden) await pause(AWAY_MS);
  }
}

at("door").addEventListener("submit", async (event) => {
  event.preventDefault();
  const given = at("token").value.trim();
  if (!/^[!-~]+$/.test(given)) return showDoor("That is no token: it is one word of plain characters.");
  sessionStorage.setItem(KEY, given);
  await goIn();
});

at("forget").addEventListener("click", () => {
  location.hash = "";
  showDoor();
});

// A refused token leads back to the door; a server that is away is said, and asked again.
async function orTrouble(work) {
  try {
    const result = await work();
    at("trouble").hidden = true;
    return result;
  } catch (error) {
    if (error.name === "AbortError") return undefined;
    if (error.status === 401) return void showDoor(error.message);
    at("trouble").hidden = false;
    at("trouble").textContent = error instanceof Refused ? error.message : "The server does not answer; trying again.";
    return undefined;
  }
}

// --- the list of jobs

const clock = new Intl.DateTimeFormat(undefined, { dateStyle: "medium", timeStyle: "short" });
const moment = (time) => clock.format(new Date(time));
const ago = new Intl.RelativeTimeFormat("en", { numeric: "auto", style: "short" });

function since(time) {
  const seconds = (new Date(time) - Date.now()) / 1000;
  for (const [unit, size] of [["day", 86400], ["hour", 3600], ["minute", 60]]) {
    if (-seconds >= size) return ago.format(Math.round(seconds / size), unit);
  }
  return "just now";
}

function setState(element, state, word = state) {
  element.dataset.state = state;
  element.textContent = word;
}

async function listJobs() {
  const { said } = await ask("GET", "/v1/batch");
  at("no-jobs").hidden = said.jobs.length > 0;
  if (!said.jobs.length) at("new").open = true;
  const lines = new Map([...at("jobs").children].map((line) => [line.dataset.id, line]));
  at("jobs").replaceChildren(...said.jobs.map((job) => drawLine(lines.get(job.job_id) ?? newLine(job.job_id), job)));
}

function newLine(id) {
  const line = at("job-line").content.firstElementChild.cloneNode(true);
  line.dataset.id = id;
  line.querySelector("a").href = `#${id}`;
  return line;
}

function drawLine(line, job) {
  setState(line.querySelector(".state"), job.status);
  line.querySelector(".name").textContent = job.job_id.slice(0, 8);
  line.querySelector(".when").textContent = since(job.created_at);
  line.querySelector("progress").value = job.targets_done / job.targets_total;
  line.querySelector("progress").setAttribute("aria-label", "targets finished");
  line.querySelector(".count").textContent = `${job.targets_done} of ${job.targets_total}`;
  const link = line.querySelector("a");
  if (job.job_id === chosen()) link.setAttribute("aria-current", "true");
  else link.removeAttribute("aria-current");
  return line;
}

async function keepListing() {
  for (;;) {
    await pause(LIST_EVERY_MS);
    if (token() && !document.hidden && !at("desk").hidden) await orTrouble(listJobs);
  }
}

// --- one job, watched by long poll

let watching = null;
let results = new Map();

const chosen = () => location.hash.slice(1);
const path = (id, query = "") => `/v1/batch/${encodeURIComponent(id)}${query && `?${query}`}`;

function openJob() {
  watching?.abort();
  watching = new AbortController();
  results = new Map();
  at("targets").replaceChildren();
  at("sieve").replaceChildren();
  const id = chosen();
  at("job").hidden = true;
  at("no-job").hidden = false;
  at("no-job").textContent = id ? "Looking it up …" : "Choose a job to see how far it is.";
  for (const link of at("jobs").querySelectorAll("a")) {
    if (link.hash === `#${id}`) link.setAttribute("aria-current", "true");
    else link.removeAttribute("aria-current");
  }
  if (id) watch(id, watching.signal);
}

async function watch(id, signal) {
  let tag = null;
  let goesOn = true;
  while (goesOn && !signal.aborted) {
    const began = performance.now();
    const look = await orTrouble(() => lookAt(id, tag, signal));
    if (signal.aborted) return;
    if (look === undefined) {
      await pause(AWAY_MS);
      continue;
    }
    ({ tag, goesOn } = look);
    // Where too many long polls wait already, the answer comes at once.
    if (look.unchanged && performance.now() - began < 1000) await pause(look.againMs);
  }
}

async function lookAt(id, tag, signal) {
  try {
    const look = await ask("GET", path(id, `results=none&wait=${tag ? WAIT_S : 0}`), { tag, signal });
    const againMs = 1000 * (look.answer.headers.get("Retry-After") ?? 1);
    if (!look.said) return { tag, goesOn: true, unchanged: true, againMs };
    drawJob(look.said);
    const goesOn = LIVE.has(look.said.status) || look.said.counts.running > 0;
    return { tag: look.tag, goesOn, againMs };
  } catch (error) {
    if (error.status !== 404) throw error;
    at("job").hidden = true;
    at("no-job").hidden = false;
    at("no-job").textContent = "There is no such job; results are kept for a time only.";
    return { tag, goesOn: false };
  }
}

function drawJob(job) {
  at("no-job").hidden = true;
  at("job").hidden = false;
  at("job-title").textContent = { queued: "Queued", running: "Running", done: "Done", partial: "Done in part",
    failed: "Failed", cancelled: "Cancelled" }[job.status] ?? job.status;
  at("cancel").hidden = !LIVE.has(job.status);
  at("job-said").textContent = summary(job);
  const line = [...at("jobs").children].find((each) => each.dataset.id === job.job_id);
  if (line) drawLine(line, job);
  job.targets.forEach((target, place) => {
    const hole = at("sieve").children[place] ?? at("sieve").appendChild(document.createElement("li"));
    hole.dataset.state = target.status;
    drawTarget(at("targets").children[place] ?? at("targets").appendChild(newTarget(job.job_id)), target);
  });
}

function summary(job) {
  const said = [`${job.targets_done} of ${job.targets_total} finished`];
  if (job.counts.failed) said.push(`${job.counts.failed} failed`);
  if (job.error) said.push(job.error);
  said.push(`since ${moment(job.created_at)}`);
  said.push(`kept until ${moment(job.expires_at)}`);
  return said.join(" · ");
}

function newTarget(id) {
  const line = at("target").content.firstElementChild.cloneNode(true);
  line.querySelector("details").addEventListener("toggle", () => orTrouble(() => drawResult(id, line)));
  return line;
}

function drawTarget(line, target) {
  const changed = line.dataset.state !== target.status;
  line.dataset.state = target.status;
  line.dataset.idx = target.idx;
  line.querySelector(".number").textContent = target.idx + 1;
  line.querySelector(".url").textContent = target.url;
  setState(line.querySelector(".state"), target.status, target.reason ?? target.status);
  say(line.querySelector(".inside > .error"), target.error);
  say(line.querySelector(".inside > .hint"), hintOf(target));
  if (changed && line.querySelector("details").open) orTrouble(() => drawResult(chosen(), line));
}

function hintOf(target) {
  if (target.status === "pending") return "Not begun yet.";
  return HINTS[target.reason === "blocked" ? "blocked" : target.hint];
}

function say(element, text) {
  element.textContent = text ?? "";
  element.hidden = !text;
}

// --- one target's result, asked for when it is opened

async function drawResult(id, line) {
  const idx = Number(line.dataset.idx);
  if (line.dataset.state !== "done" || !line.querySelector("details").open) return;
  if (!results.has(idx)) {
    const { said } = await ask("GET", path(id, `since=${idx}`), { signal: watching.signal });
    for (const target of said.targets) if (target.result) results.set(target.idx, target.result);
  }
  const result = results.get(idx);
  if (!result) return;
  line.querySelector(".result").hidden = false;
  line.querySelector("h3").textContent = result.title ?? "";
  line.querySelector(".facts").replaceChildren(...facts(result).map(drawFact));
  line.querySelector(".content").textContent = result.content || "(empty)";
  say(line.querySelector(".inside > .hint"), HINTS[result.hint]);
}

function facts(result) {
  const found = [
    ["type", result.content_type],
    ["about", `${result.approx_tokens.toLocaleString("en")} tokens`],
    ["took", `${result.elapsed_ms.toLocaleString("en")} ms`],
    ["fetched", moment(result.fetched_at)],
  ];
  if (result.final_url !== result.url) found.unshift(["led to", result.final_url]);
  if (result.cached) found.push(["from", "the cache"]);
  if (result.archive) found.push(["archived", result.archive.captured_at]);
  if (result.pages) found.push(["pages", `${result.pages.returned} of ${result.pages.total}`]);
  if (result.truncated) found.push(["cut", `from ${result.content_bytes.toLocaleString("en")} bytes`]);
  return found;
}

function drawFact([name, value]) {
  const fact = document.createElement("div");
  fact.append(document.createElement("dt"), document.createElement("dd"));
  fact.firstElementChild.textContent = name;
  fact.lastElementChild.textContent = value;
  return fact;
}

// --- submit and cancel

at("submit").addEventListener("submit", async (event) => {
  event.preventDefault();
  const button = event.submitter ?? at("submit").querySelector("button");
  button.disabled = true;
  at("submit-errors").replaceChildren();
  await orTrouble(submit);
  button.disabled = false;
});

async function submit() {
  const options = { mode: at("mode").value };
  if (at("question").value.trim()) options.question = at("question").value;
  if (at("recover").checked) options.recover = true;
  const urls = at("urls").value.split("\n").map((line) => line.trim()).filter(Boolean);
  const body = { targets: urls.map((url) => ({ url, ...options })), fresh: at("fresh").checked };
  try {
    const { said } = await ask("POST", "/v1/batch", { body });
    at("new").open = false;
    at("urls").value = "";
    const again = chosen() === said.job_id;
    location.hash = said.job_id;
    if (again) openJob();
    await listJobs();
    at("main").focus();
  } catch (error) {
    if (!(error instanceof Refused) || error.status === 401) throw error;
    const wrong = error.body.errors?.map((place) => `${lineOf(place.at)}${place.error}`) ?? [error.message];
    at("submit-errors").replaceChildren(...wrong.map((text) => {
      const item = document.createElement("li");
      item.textContent = text;
      return item;
    }));
  }
}

function lineOf(place) {
  const found = /^targets\[(\d+)\]/.exec(place);
  return found ? `line ${Number(found[1]) + 1}: ` : "";
}

at("cancel").addEventListener("click", () => orTrouble(async () => {
  at("cancel").hidden = true;
  await ask("DELETE", path(chosen()));
}));

window.addEventListener("hashchange", () => token() && openJob());
if (token()) goIn();
else showDoor();
keepListing();
