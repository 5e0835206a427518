// The camera: where it is and how it is turned. Axes x right, y down, z forward; up in the world is -y unless said
// otherwise. Vectors are arrays of three numbers.

export const add = (a, b, s = 1) => [a[0] + s * b[0], a[1] + s * b[1], a[2] + s * b[2]];
export const dot = (a, b) => a[0] * b[0] + a[1] * b[1] + a[2] * b[2];
export const cross = (a, b) => [a[1] * b[2] - a[2] * b[1], a[2] * b[0] - a[0] * b[2], a[0] * b[1] - a[1] * b[0]];
export const length = a => Math.hypot(...a);
export const unit = a => a.map(x => x / length(a));

/// v turned around a unit axis (Rodrigues).
function turned(v, axis, angle) {
  const c = Math.cos(angle), s = Math.sin(angle), along = dot(axis, v) * (1 - c), side = cross(axis, v);
  return v.map((x, k) => c * x + s * side[k] + along * axis[k]);
}

export class Camera {
  constructor() {
    this.up = [0, -1, 0];
    this.fov = 60;  // degrees across the width
    this.lookAt([0, 0, -1], [0, 0, 0]);
  }

  lookAt(eye, target, up = this.up) {
    this.eye = eye;
    this.target = target;
    this.up = unit(up);
    const z = unit(add(target, eye, -1));
    // Straight up or down another direction is up in the image.
    const above = length(cross(z, this.up)) > 1e-4 ? this.up : Math.abs(z[2]) < 0.9 ? [0, 0, -1] : [1, 0, 0];
    const x = unit(cross(z, above));
    this.axes = [x, cross(z, x), z];
  }

  /// The ball fills the image, seen from the front and a little above.
  frame(centre, radius, width, height) {
    const tangent = Math.tan(this.fov * Math.PI / 360) * Math.min(1, height / width);
    const distance = radius / Math.sin(Math.atan(tangent));
    this.lookAt(add(centre, unit([0, -0.3, -1]), distance), centre, [0, -1, 0]);
  }

  get distance() { return length(add(this.target, this.eye, -1)); }

  /// Angles in radians: around up, and around the image's x; not over the poles.
  turn(yaw, pitch, aboutEye) {
    const forward = this.axes[2], height = Math.acos(Math.max(-1, Math.min(1, dot(forward, this.up))));
    const limited = Math.max(0.02, Math.min(Math.PI - 0.02, height + pitch)) - height;
    const z = turned(turned(forward, this.axes[0], -limited), this.up, -yaw), d = this.distance;
    if (aboutEye) this.lookAt(this.eye, add(this.eye, z, d));
    else this.lookAt(add(this.target, z, -d), this.target);
  }

  /// Along the axes of the image, in units of the world; the target moves along.
  move(x, y, z) {
    let by = [0, 0, 0];
    [x, y, z].forEach((s, k) => { by = add(by, this.axes[k], s); });
    this.eye = add(this.eye, by);
    this.target = add(this.target, by);
  }

  zoom(factor) { this.lookAt(add(this.target, this.axes[2], -this.distance * factor), this.target); }

  /// What the renderers need: rows of the world-to-camera matrix [3][4], focal lengths and centre in pixels.
  projection(width, height) {
    const focal = width / 2 / Math.tan(this.fov * Math.PI / 360);
    return {
      rows: this.axes.map(a => [...a, -dot(a, this.eye)]),
      eye: this.eye, focal: [focal, focal], centre: [width / 2, height / 2], size: [width, height],
    };
  }
}
