// The map of one run: where everybody is at a moment of a day, the ways driven so far, and what has
// become of each job by then. Times are seconds of the run, places metres; the figure shows km.
"use strict";

const DAY = 86400;
const SECONDS_OF_A_DAY_SHOWN_IN = 20;
const MARGIN_KM = 2;
const MARGIN_SHARE = 0.14;
const MARGIN_SHARE_NARROW = 0.3;
const SIDES = ["middle left", "middle right", "bottom center", "bottom right", "bottom left", "top left", "top right", "top center"];

function clock(moment) {
  const minute = Math.floor((((moment % DAY) + DAY) % DAY) / 60);
  return `${String(Math.floor(minute / 60)).padStart(2, "0")}:${String(minute % 60).padStart(2, "0")}`;
}

// The points of a way up to a share of its length, the last one between two of them.
function partOf(way, share) {
  const x = [way[0]], y = [way[1]];
  let whole = 0;
  for (let i = 2; i < way.length; i += 2) whole += Math.hypot(way[i] - way[i - 2], way[i + 1] - way[i - 1]);
  let left = whole * share;
  for (let i = 2; i < way.length; i += 2) {
    const step = Math.hypot(way[i] - way[i - 2], way[i + 1] - way[i - 1]);
    const part = step > left ? left / step : 1;
    x.push(way[i - 2] + part * (way[i] - way[i - 2]));
    y.push(way[i - 1] + part * (way[i + 1] - way[i - 1]));
    if (step > left) break;
    left -= step;
  }
  return [x.map((metres) => metres / 1000), y.map((metres) => metres / 1000)];
}

// Anchors by zone and freeways as one picture under the figure: drawn once, however often it moves.
function groundPicture(ground) {
  const colours = ["#0072b2", "#e69f00", "#009e73", "#cc79a7", "#56b4e9", "#d55e00", "#8b929b"];
  const all = [0, 1].map((axis) => ground.zones.flatMap((zone) => zone.anchors[axis]).concat(ground.freeways[axis].flat()));
  const [left, right, low, high] = [Math.min(...all[0]), Math.max(...all[0]), Math.min(...all[1]), Math.max(...all[1])];
  if (!Number.isFinite(left)) return null;
  const flip = (y) => high - y;
  const dots = ground.zones.map((zone, place) => {
    const path = zone.anchors[0].map((x, i) => `M${x - left} ${flip(zone.anchors[1][i])}h1`).join("");
    return `<path d="${path}" stroke="${colours[place % colours.length]}" stroke-width="520" stroke-linecap="round" opacity=".3"/>`;
  });
  const roads = ground.freeways[0].map((ends, i) =>
    `M${ends[0] - left} ${flip(ground.freeways[1][i][0])}L${ends[1] - left} ${flip(ground.freeways[1][i][1])}`).join("");
  const [wide, tall] = [Math.max(1, right - left), Math.max(1, high - low)];
  const edge = 600;
  const svg = `<svg xmlns="http://www.w3.org/2000/svg" viewBox="${-edge} ${-edge} ${wide + 2 * edge} ${tall + 2 * edge}" preserveAspectRatio="none">` +
    `${dots.join("")}<path d="${roads}" fill="none" stroke="#8b929b" stroke-width="340" opacity=".55"/></svg>`;
  return {
    source: `data:image/svg+xml;charset=utf-8,${encodeURIComponent(svg)}`,
    xref: "x", yref: "y", layer: "below", sizing: "stretch",
    x: (left - edge) / 1000, y: (high + edge) / 1000,
    sizex: (wide + 2 * edge) / 1000, sizey: (tall + 2 * edge) / 1000,
  };
}

class Replay {
  constructor(run, place) {
    this.place = place;
    this.data = run.data.replay;
    this.ground = DATA.grounds[run.data.ground];
    this.picture = groundPicture(this.ground);
    const section = place.closest("section");
    this.slider = section.querySelector(".time");
    this.output = section.querySelector(".clock");
    this.button = section.querySelector(".play");
    this.doing = section.querySelector(".doing");
    this.slider.oninput = () => { this.stop(); this.move(Number(this.slider.value)); };
    this.button.onclick = () => (this.playing ? this.stop() : this.play());
    const legend = section.querySelector(".technicians");
    for (const man of this.data.technicians) {
      const item = document.createElement("li"), swatch = document.createElement("i");
      swatch.className = "swatch";
      swatch.style.setProperty("--colour", man.colour);
      item.append(swatch, textOf(man.name));
      legend.append(item);
    }
  }

  choose(number) {
    this.stop();
    this.day = this.data.days[number];
    this.slider.min = this.day.from;
    this.slider.max = this.day.until;
    this.slider.step = 60;
    this.move(Math.min(this.day.until, this.day.from + 6 * 3600));
  }

  move(moment) {
    this.moment = moment;
    this.slider.value = moment;
    this.output.textContent = clock(moment);
    this.slider.setAttribute("aria-valuetext", clock(moment));
    this.tell();
    if (this.place.dataset.drawn) this.draw();
  }

  play() {
    if (this.moment >= this.day.until) this.move(this.day.from);
    this.playing = true;
    this.button.textContent = "❚❚ Pause";
    this.button.setAttribute("aria-pressed", "true");
    const pace = (this.day.until - this.day.from) / SECONDS_OF_A_DAY_SHOWN_IN;
    let before = performance.now();
    const step = (now) => {
      if (!this.playing) return;
      const next = Math.min(this.day.until, this.moment + (pace * (now - before)) / 1000);
      before = now;
      this.move(next);
      if (next >= this.day.until) this.stop();
      else requestAnimationFrame(step);
    };
    requestAnimationFrame(step);
  }

  stop() {
    this.playing = false;
    this.button.textContent = "▶ Play";
    this.button.setAttribute("aria-pressed", "false");
  }

  // What a technician is at, and where he is.
  whereabouts(man) {
    const begun = this.day.stretches.filter((one) => one.man === man && one.from <= this.moment);
    const now = begun[begun.length - 1];
    const current = now && (this.moment < now.until || !now.over) ? now : null;
    const drives = begun.filter((one) => one.way);
    const last = drives[drives.length - 1];
    if (!last) return { current, drives, spot: this.data.technicians[man].home.map((metres) => metres / 1000) };
    const [x, y] = this.partOfDrive(last);
    return { current, drives, spot: [x[x.length - 1], y[y.length - 1]] };
  }

  partOfDrive(drive) {
    const share = drive.over ? (this.moment - drive.from) / Math.max(1, drive.until - drive.from) : 0.5;
    return partOf(drive.way, Math.max(0, Math.min(1, share)));
  }

  tell() {
    const words = { drive: "drives to job", wait: "waits at job", work: "works on job" };
    this.doing.replaceChildren(...this.data.technicians.map((man, index) => {
      const { current, drives } = this.whereabouts(index);
      const idle = drives.length ? "is free" : "is at home";
      const item = document.createElement("li"), name = document.createElement("b");
      name.textContent = textOf(man.name);
      item.append(name, ` ${current ? `${words[current.doing]} ${current.job}` : idle}`);
      return item;
    }));
  }

  draw() {
    const figure = { data: [...this.ways(), this.homes(), ...this.jobs(), this.people()], layout: this.layout() };
    return draw(this.place, figure);
  }

  ways() {
    return this.data.technicians.map((man, index) => {
      const x = [], y = [];
      for (const drive of this.whereabouts(index).drives) {
        const [east, north] = this.partOfDrive(drive);
        x.push(...east, null);
        y.push(...north, null);
      }
      return { type: "scatter", mode: "lines", x, y, line: { color: man.colour, width: 3 }, opacity: 0.75,
        text: man.name, hovertemplate: "driven by %{text}<extra></extra>" };
    });
  }

  homes() {
    const men = this.data.technicians;
    return { type: "scatter", mode: "text", x: men.map((man) => man.home[0] / 1000), y: men.map((man) => man.home[1] / 1000),
      text: men.map(() => "⌂"), textfont: { size: 20, color: men.map((man) => man.colour) },
      customdata: men.map((man) => `home of ${man.name}`), hovertemplate: "%{customdata}<extra></extra>" };
  }

  jobs() {
    const groups = new Map(Object.keys(DATA.states).map((state) => [Number(state), []]));
    for (const job of this.day.jobs) {
      let state = null;
      for (const [at, next] of job.states) if (at <= this.moment) state = next;
      if (groups.has(state)) groups.get(state).push(job);
    }
    return [...groups].map(([state, jobs]) => {
      const look = DATA.states[state];
      return { type: "scatter", mode: "markers+text", name: look.word,
        x: jobs.map((job) => job.x / 1000), y: jobs.map((job) => job.y / 1000),
        text: jobs.map((job) => (this.isNamed(state) ? String(job.number) : "")), textposition: "top center", textfont: { size: 10 },
        marker: { symbol: look.symbol, size: 11, color: look.colour, line: { color: look.symbol === "line-ew" ? look.colour : "#3d444c", width: look.symbol === "line-ew" ? 3 : 1 } },
        customdata: jobs.map((job) => job.hover), hovertemplate: `${clock(this.moment)}: ${look.word}<br>%{customdata}<extra></extra>` };
    });
  }

  // Numbers of jobs that are over would cover those of the others; pointing at a job tells its own.
  isNamed(state) {
    const going = ["on the way", "waits on site", "at work"];
    const open = this.place.clientWidth < NARROW ? going : [...going, "booked", "missed"];
    return open.includes(DATA.states[state].word);
  }

  people() {
    const spots = this.data.technicians.map((_, index) => this.whereabouts(index).spot);
    return { type: "scatter", mode: "markers+text", x: spots.map((spot) => spot[0]), y: spots.map((spot) => spot[1]),
      text: this.data.technicians.map((man) => `<b>${man.name}</b>`), textposition: this.data.technicians.map((_, index) => SIDES[index % SIDES.length]),
      marker: { size: 15, symbol: "circle", color: this.data.technicians.map((man) => man.colour), line: { color: "#ffffff", width: 2.5 } },
      hovertemplate: "%{text}<extra></extra>" };
  }

  layout() {
    const x = [], y = [];
    for (const man of this.data.technicians) { x.push(man.home[0]); y.push(man.home[1]); }
    for (const job of this.day.jobs) { x.push(job.x); y.push(job.y); }
    for (const one of this.day.stretches) {
      for (let i = 0; i < (one.way || []).length; i += 2) { x.push(one.way[i]); y.push(one.way[i + 1]); }
    }
    const narrow = this.place.clientWidth < NARROW;
    const share = narrow ? MARGIN_SHARE_NARROW : MARGIN_SHARE;
    const range = (metres) => {
      const [low, high] = [Math.min(...metres) / 1000, Math.max(...metres) / 1000];
      const margin = Math.max(MARGIN_KM, share * (high - low)); // names stand beside the marks
      return [low - margin, high + margin];
    };
    return {
      height: narrow ? 420 : 560,
      xaxis: { range: range(x), title: { text: "east of the map's origin (km)" }, constrain: "range" },
      yaxis: { range: range(y), title: { text: "north of it (km)" }, scaleanchor: "x", constrain: "range" },
      images: this.picture ? [this.picture] : [],
      annotations: narrow ? [] : this.ground.zones.map((zone) => ({
        x: zone.x / 1000, y: zone.y / 1000, text: zone.name, showarrow: false, opacity: 0.55, font: { size: 11 } })),
    };
  }
}

// Names come escaped for the figures; elsewhere they are text.
function textOf(escaped) {
  const helper = document.createElement("textarea");
  helper.innerHTML = escaped;
  return helper.value;
}
