// Draws the figures of the page as they come into sight, in the colours of the reader's scheme,
// and lets him choose a run and a day. The map's replay stands in replay.js.
"use strict";

const DATA = JSON.parse(document.getElementById("data").textContent);
const DARK = window.matchMedia("(prefers-color-scheme: dark)");
const CONFIG = { displayModeBar: false, responsive: true, scrollZoom: false, doubleClick: false };
const NARROW = 520;
const FRAME_PX = 70;
const TICK_PX = 48;

function draw(place, figure) {
  const template = DATA.templates[DARK.matches ? "dark" : "light"];
  const layout = { ...figure.layout, template };
  thin(layout, place.clientWidth);
  return Plotly.react(place, figure.data, layout, CONFIG);
}

// As many dates stand on an axis as there is room for.
function thin(layout, width) {
  const axis = layout.xaxis;
  if (!axis || !axis.tickvals) return;
  const step = Math.ceil(axis.tickvals.length / Math.max(2, Math.floor((width - FRAME_PX) / TICK_PX)));
  const kept = (_, place) => place % step === 0;
  layout.xaxis = { ...axis, tickvals: axis.tickvals.filter(kept), ticktext: axis.ticktext.filter(kept) };
}

class Run {
  constructor(article) {
    this.article = article;
    this.data = DATA.runs[Number(article.dataset.run)];
    this.day = 0;
    for (const picker of article.querySelectorAll(".days")) {
      picker.querySelector(".back").onclick = () => this.choose(this.day - 1);
      picker.querySelector(".forth").onclick = () => this.choose(this.day + 1);
      picker.querySelector(".day").onchange = (event) => this.choose(Number(event.target.value));
    }
    for (const button of article.querySelectorAll(".show")) {
      button.onclick = () => {
        this.choose(Number(button.dataset.day));
        article.querySelector('[data-section="calendar"]').scrollIntoView();
      };
    }
    const map = article.querySelector('[data-figure="map"]');
    this.replay = map ? new Replay(this, map) : null;
    if (this.data.days.length) this.choose(0);
  }

  choose(day) {
    const last = this.data.days.length - 1;
    this.day = Math.max(0, Math.min(last, day));
    for (const picker of this.article.querySelectorAll(".days")) {
      picker.querySelector(".day").value = String(this.day);
      picker.querySelector(".back").disabled = this.day === 0;
      picker.querySelector(".forth").disabled = this.day === last;
    }
    if (this.replay) this.replay.choose(this.day);
    for (const place of this.article.querySelectorAll('[data-figure="day"]')) {
      if (place.dataset.drawn) this.draw(place);
    }
  }

  draw(place) {
    place.dataset.drawn = "yes";
    const name = place.dataset.figure;
    if (name === "map") return this.replay.draw();
    return draw(place, name === "day" ? this.data.days[this.day] : this.data.figures[name]);
  }
}

const RUNS = [];

function runOf(place) {
  const article = place.closest("article");
  return article ? RUNS[Number(article.dataset.run)] : null;
}

function show(place) {
  const run = runOf(place);
  if (run) return run.draw(place);
  place.dataset.drawn = "yes";
  return draw(place, DATA.comparison);
}

// Anchors of the menu lead into the run that is shown.
function name(article) {
  for (const section of document.querySelectorAll("article [data-section]")) section.removeAttribute("id");
  for (const section of article.querySelectorAll("[data-section]")) section.id = section.dataset.section;
}

function choose(number) {
  for (const run of RUNS) {
    run.article.hidden = run.article !== RUNS[number].article;
    if (run.article.hidden && run.replay) run.replay.stop();
  }
  name(RUNS[number].article);
}

function begin() {
  for (const article of document.querySelectorAll("article.run")) RUNS.push(new Run(article));
  const chosen = document.getElementById("chosen");
  if (chosen) chosen.onchange = () => choose(Number(chosen.value));
  choose(chosen ? Number(chosen.value) : 0);
  const seen = new IntersectionObserver((entries) => {
    for (const entry of entries) {
      if (!entry.isIntersecting) continue;
      seen.unobserve(entry.target);
      show(entry.target);
    }
  }, { rootMargin: "200px" });
  for (const place of document.querySelectorAll(".figure")) seen.observe(place);
  DARK.addEventListener("change", () => {
    for (const place of document.querySelectorAll('.figure[data-drawn]')) show(place);
  });
}

document.addEventListener("DOMContentLoaded", begin);
