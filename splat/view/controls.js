// Mouse, touch and keys to motions of the camera.

const KEYS = {
  KeyW: [0, 0, 1], KeyS: [0, 0, -1], KeyA: [-1, 0, 0], KeyD: [1, 0, 0], KeyQ: [0, 1, 0], KeyE: [0, -1, 0],
  ArrowUp: [0, 0, 1], ArrowDown: [0, 0, -1], ArrowLeft: [-1, 0, 0], ArrowRight: [1, 0, 0],
};

export class Controls {
  /// `changed` is called after every motion; `speed()` gives units of the world a second.
  constructor(canvas, camera, { changed, speed }) {
    Object.assign(this, { canvas, camera, changed, speed, fly: false });
    this.pointers = new Map();
    this.held = new Set();
    const on = (target, names, handler) =>
      names.split(' ').forEach(name => target.addEventListener(name, handler, { passive: false }));
    on(canvas, 'pointerdown', e => this.down(e));
    on(canvas, 'pointermove', e => this.moved(e));
    on(canvas, 'pointerup pointercancel lostpointercapture', e => this.pointers.delete(e.pointerId));
    on(canvas, 'wheel', e => {
      e.preventDefault();
      const lines = e.deltaMode === WheelEvent.DOM_DELTA_LINE ? 16 : 1;
      this.nearer(Math.exp(Math.max(-1, Math.min(1, e.deltaY * lines * 0.001))));
    });
    on(canvas, 'contextmenu', e => e.preventDefault());
    on(window, 'keydown', e => {
      if (e.ctrlKey || e.metaKey || e.altKey || !KEYS[e.code]) return;
      e.preventDefault();
      this.held.add(e.code);
      this.fast = e.shiftKey;
      this.walk();
    });
    on(window, 'keyup', e => { this.held.delete(e.code); this.fast = e.shiftKey; });
    on(window, 'blur', () => this.held.clear());
  }

  down(e) {
    e.preventDefault();
    this.canvas.focus({ preventScroll: true });
    try { this.canvas.setPointerCapture(e.pointerId); } catch { /* the pointer is gone already */ }
    this.pointers.set(e.pointerId, { x: e.clientX, y: e.clientY, pans: e.button !== 0 || e.shiftKey });
  }

  moved(e) {
    const p = this.pointers.get(e.pointerId);
    if (!p) return;
    e.preventDefault();
    const before = this.spread(), dx = e.clientX - p.x, dy = e.clientY - p.y;
    p.x = e.clientX;
    p.y = e.clientY;
    if (this.pointers.size === 1) {
      if (p.pans) this.pan(dx, dy);
      else this.camera.turn(dx * 0.005, dy * 0.005, this.fly);
    } else if (this.pointers.size === 2) {
      const after = this.spread();
      this.pan(after.x - before.x, after.y - before.y);
      if (before.size > 0 && after.size > 0) this.camera.zoom(before.size / after.size);
    }
    this.changed();
  }

  /// Middle and size of what two fingers span.
  spread() {
    const [a, b] = [...this.pointers.values()];
    return b ? { x: (a.x + b.x) / 2, y: (a.y + b.y) / 2, size: Math.hypot(a.x - b.x, a.y - b.y) } : null;
  }

  /// What is at the target's distance follows the pointer.
  pan(dx, dy) {
    const unit = 2 * this.camera.distance * Math.tan(this.camera.fov * Math.PI / 360) / this.canvas.clientWidth;
    this.camera.move(-dx * unit, -dy * unit, 0);
  }

  nearer(factor) {
    if (this.fly) this.camera.move(0, 0, this.speed() * (1 - factor));
    else this.camera.zoom(factor);
    this.changed();
  }

  walk() {
    if (this.walking) return;
    let last = performance.now();
    const step = now => {
      if (this.held.size === 0) { this.walking = false; return; }
      const far = this.speed() * Math.min(0.1, Math.max(0, (now - last) / 1000)) * (this.fast ? 4 : 1);
      last = now;
      for (const key of this.held) this.camera.move(...KEYS[key].map(x => x * far));
      this.changed();
      requestAnimationFrame(step);
    };
    this.walking = true;
    requestAnimationFrame(step);
  }
}
