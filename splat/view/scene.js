// A scene as `rlx splat view` sends it; src/cli/view_scene.hpp states the layout.

export function decode(buffer) {
  const words = new Uint32Array(buffer, 0, 16), floats = new Float32Array(buffer, 0, 16);
  if (words[0] !== 0x56584c52 || words[1] !== 1) throw new Error('this is not a scene of this version of rlx');
  const [, , count, degree, stride, antialiased] = words;
  const at = 64, shapes = 12 * count, colours = 4 * stride * count;
  if (buffer.byteLength !== at + 4 * (shapes + colours)) throw new Error('the scene was cut short');
  return {
    count, degree, stride, antialiased: antialiased !== 0,
    centre: [floats[8], floats[9], floats[10]], radius: floats[11],
    shapes: new Float32Array(buffer, at, shapes),               // x y z opacity | xx xy xz yy | yz zz 0 0
    colours: new Float32Array(buffer, at + 4 * shapes, colours),  // harmonics, `stride` vectors of four each
  };
}
