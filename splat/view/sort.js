// A worker: the Gaussians before the camera, nearest first. Depths are positive floats, whose bits ascend as they do,
// so a radix sort of two passes of 16 bits is exact.

let means = new Float32Array(0);

/// `order`, stable, by 16 bits of keys[order[k]].
function pass(keys, order, shift) {
  const starts = new Uint32Array(65537), out = new Uint32Array(order.length);
  for (const i of order) ++starts[(keys[i] >>> shift & 0xffff) + 1];
  for (let d = 0; d < 65536; ++d) starts[d + 1] += starts[d];
  for (const i of order) out[starts[keys[i] >>> shift & 0xffff]++] = i;
  return out;
}

/// `row`: third row of the world-to-camera matrix.
function nearestFirst([x, y, z, shift], near) {
  const n = means.length / 3, depths = new Float32Array(n), keys = new Uint32Array(depths.buffer);
  const seen = new Uint32Array(n);
  let count = 0;
  for (let i = 0; i < n; ++i) {
    depths[i] = x * means[3 * i] + y * means[3 * i + 1] + z * means[3 * i + 2] + shift;
    if (depths[i] >= near) seen[count++] = i;
  }
  return pass(keys, pass(keys, seen.subarray(0, count), 0), 16);
}

onmessage = ({ data }) => {
  if (data.means) means = data.means;
  const order = nearestFirst(data.row, data.near);
  postMessage({ order, scene: data.scene }, [order.buffer]);
};
