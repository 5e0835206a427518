// The page of `rlx splat view`: fetches the scene, again whenever it changes, and draws it when something moved.
//
// Behind # in the address: eye, target and up (x,y,z), fov (degrees across the width), background (r,g,b, 0 to 1),
// renderer (webgpu or webgl2), hud=0 (the picture alone).
import { Camera } from './camera.js';
import { Controls } from './controls.js';
import { decode } from './scene.js';

const NEAR = 0.01;
const element = id => document.getElementById(id);
const canvas = element('canvas'), statusLine = element('status');
const asked = new URLSearchParams(location.hash.slice(1));
const numbers = name => {
  const x = asked.get(name)?.split(',').map(Number);
  return x?.length === 3 && x.every(Number.isFinite) ? x : null;
};

const camera = new Camera();
const background = numbers('background') ?? [0, 0, 0];
let renderer, scene, controls, number = 0, drawnNumber = -1, framed = false, ended = null;

function say(text, wrong = false) {
  statusLine.textContent = text;
  statusLine.classList.toggle('wrong', wrong);
}

// --- What draws.

async function makeRenderer() {
  const reasons = [];
  for (const name of asked.has('renderer') ? [asked.get('renderer')] : ['webgpu', 'webgl2']) {
    try {
      if (name !== 'webgpu' && name !== 'webgl2') throw new Error('there is no such renderer');
      const { Renderer } = await import(`./${name}.js`);
      const made = await Renderer.make(canvas);
      made.lost.then(why => { ended = `the ${name} device was lost (${why}): load the page again, or with #renderer=webgl2`; });
      return made;
    } catch (e) { reasons.push(`${name}: ${e.message}`); }
  }
  throw new Error(`nothing to draw with: ${reasons.join('; ')}`);
}

// --- Order of drawing: one request at a time; a camera that moved meanwhile asks again.

const sorter = new Worker('sort.js');
let sorting = false, resort = false;
sorter.onmessage = ({ data }) => {
  sorting = false;
  if (data.scene === number) {
    renderer.setOrder(data.order);
    drawnNumber = number;
    redraw();
  }
  if (resort || data.scene !== number) sort();
};
function sort() {
  if (!scene) return;
  if (sorting) { resort = true; return; }
  sorting = true;
  resort = false;
  sorter.postMessage({ scene: number, near: NEAR, row: camera.projection(1, 1).rows[2] });
}

// --- Frames.

let pending = false, settled = [];
function redraw() {
  if (pending) return;
  pending = true;
  requestAnimationFrame(() => {
    pending = false;
    const width = Math.max(1, Math.round(canvas.clientWidth * devicePixelRatio)),
          height = Math.max(1, Math.round(canvas.clientHeight * devicePixelRatio));
    if (canvas.width !== width || canvas.height !== height) Object.assign(canvas, { width, height });
    if (!scene || drawnNumber !== number || ended) return;
    renderer.draw({ ...camera.projection(width, height), near: NEAR, background });
    if (!sorting && !resort) settled.splice(0).forEach(done => done());
  });
}
const moved = () => { sort(); redraw(); };

function place() {
  const eye = numbers('eye'), target = numbers('target') ?? scene.centre;
  if (Number(asked.get('fov')) > 0 && Number(asked.get('fov')) < 180) camera.fov = Number(asked.get('fov'));
  if (eye) camera.lookAt(eye, target, numbers('up') ?? [0, -1, 0]);
  else camera.frame(scene.centre, scene.radius, canvas.clientWidth, canvas.clientHeight);
}

// --- The scene, and its changes.

let version = 0, failure = null;

function show(next) {
  renderer.setScene(next);
  const means = new Float32Array(3 * next.count);
  for (let i = 0; i < next.count; ++i)
    for (let k = 0; k < 3; ++k) means[3 * i + k] = next.shapes[12 * i + k];
  scene = next;
  number += 1;
  sorter.postMessage({ means, scene: number, near: NEAR, row: camera.projection(1, 1).rows[2] }, [means.buffer]);
  sorting = true;
  if (!framed) place();
  framed = true;
  sort();
}

async function look() {
  const status = await (await fetch('status', { cache: 'no-store' })).json();
  if (!ended && status.version !== version && status.version > 0) {
    const answer = await fetch('scene', { cache: 'no-store' });
    if (!answer.ok) throw new Error(await answer.text());
    const bytes = await answer.arrayBuffer();
    version = Number(answer.headers.get('X-Scene-Version'));  // What cannot be shown is not fetched again either.
    failure = null;
    try {
      show(decode(bytes));
    } catch (e) {
      failure = e.message;
      scene = null;
    }
  }
  if (ended || failure) say(ended ?? failure, true);
  else if (status.error) say(status.error, true);
  else if (version === 0) say(`waiting for ${status.scene}`);
  else say(`${status.scene}: ${scene.count.toLocaleString('en')} Gaussians, degree ${scene.degree}` +
           `, ${renderer.name}`);
}
async function watch() {
  try {
    await look();
  } catch (e) { say(e instanceof TypeError ? 'rlx splat view has ended' : e.message, true); }
  setTimeout(watch, document.hidden ? 5000 : 1000);
}

// --- Buttons.

function setFly(on) {
  controls.fly = on;
  element('fly').setAttribute('aria-pressed', String(on));
}
function reset() {
  if (scene) camera.frame(scene.centre, scene.radius, canvas.clientWidth, canvas.clientHeight);
  moved();
}
function help() {
  element('keys').hidden = !element('keys').hidden;
  element('help').setAttribute('aria-expanded', String(!element('keys').hidden));
}

/// For tests: resolves when the picture on the screen is that of the camera and of the newest scene.
function settledNow() {
  return new Promise(done => { settled.push(done); moved(); });
}

try {
  element('hud').hidden = asked.get('hud') === '0';
  renderer = await makeRenderer();
  controls = new Controls(canvas, camera, { changed: moved, speed: () => Math.max(scene?.radius ?? 1, 1e-3) });
  element('fly').onclick = () => setFly(!controls.fly);
  element('reset').onclick = reset;
  element('help').onclick = help;
  addEventListener('keydown', e => {
    if (e.ctrlKey || e.metaKey || e.altKey || e.repeat) return;
    if (e.code === 'KeyF') setFly(!controls.fly);
    else if (e.code === 'KeyR') reset();
    else if (e.code === 'KeyH') help();
  });
  new ResizeObserver(redraw).observe(canvas);
  window.viewer = { camera, controls, renderer: renderer.name, settled: settledNow,
                    get version() { return version; }, get count() { return scene?.count; } };
  watch();
} catch (e) { say(e.message, true); }
