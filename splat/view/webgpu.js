// Drawing by WebGPU; the passes are those of webgl2.js, and so are the formulas.

const SPLATS = `
struct Uniforms {
  row_x: vec4f, row_y: vec4f, row_z: vec4f,
  eye: vec4f,
  focal: vec2f, centre: vec2f,
  size: vec2f, degree: u32, stride: u32,
  background: vec3f, antialiased: u32,
}
@group(0) @binding(0) var<uniform> u: Uniforms;
@group(0) @binding(1) var<storage, read> shapes: array<vec4f>;
@group(0) @binding(2) var<storage, read> colours: array<vec4f>;
@group(0) @binding(3) var<storage, read> order: array<u32>;

fn coefficient(g: u32, k: u32) -> f32 { return colours[g * u.stride + k / 4][k % 4]; }
fn sh(g: u32, m: u32) -> vec3f {
  return vec3f(coefficient(g, 3 * m), coefficient(g, 3 * m + 1), coefficient(g, 3 * m + 2));
}
fn seen(g: u32, d: vec3f) -> vec3f {
  var c = 0.28209479177387814 * sh(g, 0);
  if (u.degree > 0) {
    c += 0.48860251190291987 * (-d.y * sh(g, 1) + d.z * sh(g, 2) - d.x * sh(g, 3));
  }
  let x = d.x; let y = d.y; let z = d.z; let xx = x * x; let yy = y * y; let zz = z * z;
  if (u.degree > 1) {
    c += 1.0925484305920792 * (x * y * sh(g, 4) - y * z * sh(g, 5) - x * z * sh(g, 7)) +
         0.31539156525252005 * (2.0 * zz - xx - yy) * sh(g, 6) + 0.5462742152960396 * (xx - yy) * sh(g, 8);
  }
  if (u.degree > 2) {
    c += -0.5900435899266435 * (y * (3.0 * xx - yy) * sh(g, 9) + x * (xx - 3.0 * yy) * sh(g, 15)) +
         2.890611442640554 * x * y * z * sh(g, 10) + 1.445305721320277 * z * (xx - yy) * sh(g, 14) -
         0.4570457994644658 * (4.0 * zz - xx - yy) * (y * sh(g, 11) + x * sh(g, 13)) +
         0.3731763325901154 * z * (2.0 * zz - 3.0 * xx - 3.0 * yy) * sh(g, 12);
  }
  if (u.degree > 3) {
    let seven = 7.0 * zz - 1.0; let seven3 = z * (7.0 * zz - 3.0);
    let y3 = y * (3.0 * xx - yy); let x3 = x * (xx - 3.0 * yy);
    c += 2.5033429417967046 * x * y * (xx - yy) * sh(g, 16) - 1.7701307697799304 * z * (y3 * sh(g, 17) + x3 * sh(g, 23)) +
         0.9461746957575601 * x * y * seven * sh(g, 18) - 0.6690465435572892 * seven3 * (y * sh(g, 19) + x * sh(g, 21)) +
         0.10578554691520431 * (zz * (35.0 * zz - 30.0) + 3.0) * sh(g, 20) +
         0.47308734787878004 * (xx - yy) * seven * sh(g, 22) + 0.6258357354491761 * (x * x3 - y * y3) * sh(g, 24);
  }
  return max(c + 0.5, vec3f(0));
}

struct Corner {
  @builtin(position) position: vec4f,
  @location(0) at: vec2f,
  @location(1) @interpolate(flat, either) colour: vec4f,
}

@vertex fn corner(@builtin(vertex_index) v: u32, @builtin(instance_index) instance: u32) -> Corner {
  var out: Corner;
  out.position = vec4f(0, 0, 2, 1);  // outside
  let g = order[instance];
  let mean = shapes[3 * g]; let first = shapes[3 * g + 1]; let last = shapes[3 * g + 2];
  let m = vec4f(mean.xyz, 1);
  let p = vec3f(dot(u.row_x, m), dot(u.row_y, m), dot(u.row_z, m));
  let margin = 0.15 * u.size;
  let slope = clamp(p.xy / p.z, (-u.centre - margin) / u.focal, (u.size - u.centre + margin) / u.focal);
  let jx = u.focal.x / p.z * (u.row_x.xyz - slope.x * u.row_z.xyz);
  let jy = u.focal.y / p.z * (u.row_y.xyz - slope.y * u.row_z.xyz);
  let covariance = mat3x3f(first.xyz, vec3f(first.y, first.w, last.x), vec3f(first.z, last.x, last.y));
  let cx = covariance * jx; let cy = covariance * jy;
  var xx = dot(jx, cx); let xy = dot(jx, cy); var yy = dot(jy, cy);
  let before = xx * yy - xy * xy;
  xx += 0.3;
  yy += 0.3;
  let determinant = xx * yy - xy * xy;
  if (!(determinant > 0)) { return out; }
  var opacity = mean.w;
  if (u.antialiased != 0) { opacity *= sqrt(max(before / determinant, 0)); }
  if (opacity < 1.0 / 255.0) { return out; }
  let middle = 0.5 * (xx + yy); let part = length(vec2f(0.5 * (xx - yy), xy)); let larger = middle + part;
  var axis = select(vec2f(xy, part + 0.5 * (yy - xx)), vec2f(part + 0.5 * (xx - yy), xy), xx >= yy);
  if (dot(axis, axis) > 0) { axis = normalize(axis); } else { axis = vec2f(1, 0); }
  out.at = (vec2f(f32(v & 1), f32(v >> 1)) * 2 - 1) * sqrt(2 * log(255 * opacity));
  let offset = out.at.x * sqrt(larger) * axis + out.at.y * sqrt(determinant / larger) * vec2f(-axis.y, axis.x);
  let pixel = u.focal * p.xy / p.z + u.centre + offset;
  out.position = vec4f((2 * pixel / u.size - 1) * vec2f(1, -1), 0, 1);
  out.colour = vec4f(seen(g, normalize(mean.xyz - u.eye.xyz)), opacity);
  return out;
}

@fragment fn splat(in: Corner) -> @location(0) vec4f {
  let alpha = min(0.999, in.colour.a * exp(-0.5 * dot(in.at, in.at)));
  if (alpha < 1.0 / 255.0) { discard; }
  return vec4f(in.colour.rgb * alpha, alpha);
}`;

const LAST = `
@group(0) @binding(0) var picture: texture_2d<f32>;
@group(0) @binding(1) var<uniform> background: vec4f;
@vertex fn whole(@builtin(vertex_index) v: u32) -> @builtin(position) vec4f {
  return vec4f(vec2f(f32(v & 1), f32(v >> 1)) * 4 - 1, 0, 1);
}
@fragment fn last(@builtin(position) at: vec4f) -> @location(0) vec4f {
  let c = textureLoad(picture, vec2i(at.xy), 0);
  return vec4f(c.rgb + c.a * background.rgb, 1);
}`;

export class Renderer {
  static async make(canvas) {
    const adapter = await navigator.gpu?.requestAdapter({ powerPreference: 'high-performance' });
    if (!adapter) throw new Error('not there');
    // Scenes are large: as much of a buffer as the device gives.
    const { maxBufferSize, maxStorageBufferBindingSize } = adapter.limits;
    const device = await adapter.requestDevice({ requiredLimits: { maxBufferSize, maxStorageBufferBindingSize } });
    const made = new Renderer(canvas, device);
    await made.compile();
    return made;
  }

  constructor(canvas, device) {
    this.name = 'webgpu';
    this.device = device;
    this.count = 0;
    this.lost = device.lost.then(({ message }) => message);
    this.format = navigator.gpu.getPreferredCanvasFormat();
    this.uniforms = device.createBuffer({ size: 112, usage: GPUBufferUsage.UNIFORM | GPUBufferUsage.COPY_DST });
    this.behind = device.createBuffer({ size: 16, usage: GPUBufferUsage.UNIFORM | GPUBufferUsage.COPY_DST });
    this.canvas = canvas;
  }

  async compile() {
    const splats = this.device.createShaderModule({ code: SPLATS }), last = this.device.createShaderModule({ code: LAST });
    const blend = {
      color: { srcFactor: 'dst-alpha', dstFactor: 'one' }, alpha: { srcFactor: 'zero', dstFactor: 'one-minus-src-alpha' },
    };
    [this.splats, this.whole] = await Promise.all([
      this.device.createRenderPipelineAsync({
        layout: 'auto', vertex: { module: splats, entryPoint: 'corner' },
        fragment: { module: splats, entryPoint: 'splat', targets: [{ format: 'rgba16float', blend }] },
        primitive: { topology: 'triangle-strip' },
      }),
      this.device.createRenderPipelineAsync({
        layout: 'auto', vertex: { module: last, entryPoint: 'whole' },
        fragment: { module: last, entryPoint: 'last', targets: [{ format: this.format }] },
      }),
    ]);
    // Only now: a canvas has one kind of context for ever, and WebGL2 may have to do.
    this.context = this.canvas.getContext('webgpu');
    this.context.configure({ device: this.device, format: this.format, alphaMode: 'opaque' });
  }

  buffer(data) {
    if (data.byteLength > this.device.limits.maxStorageBufferBindingSize)
      throw new Error('the scene is too large for this WebGPU device');
    const made = this.device.createBuffer({
      size: Math.max(16, data.byteLength), usage: GPUBufferUsage.STORAGE | GPUBufferUsage.COPY_DST,
    });
    this.device.queue.writeBuffer(made, 0, data);
    return made;
  }

  setScene(scene) {
    for (const old of [this.shapes, this.colours, this.order]) old?.destroy();
    this.shapes = this.buffer(scene.shapes);
    this.colours = this.buffer(scene.colours);
    this.order = this.buffer(new Uint32Array(scene.count));
    this.scene = scene;
    this.count = 0;
    this.group = this.device.createBindGroup({
      layout: this.splats.getBindGroupLayout(0),
      entries: [this.uniforms, this.shapes, this.colours, this.order].map(
          (buffer, binding) => ({ binding, resource: { buffer } })),
    });
  }

  setOrder(order) {
    this.device.queue.writeBuffer(this.order, 0, order);
    this.count = order.length;
  }

  resize([width, height]) {
    if (this.target?.width === width && this.target?.height === height) return;
    this.target?.destroy();
    this.target = this.device.createTexture({
      size: [width, height], format: 'rgba16float',
      usage: GPUTextureUsage.RENDER_ATTACHMENT | GPUTextureUsage.TEXTURE_BINDING,
    });
    this.lastGroup = this.device.createBindGroup({
      layout: this.whole.getBindGroupLayout(0),
      entries: [{ binding: 0, resource: this.target.createView() }, { binding: 1, resource: { buffer: this.behind } }],
    });
  }

  draw({ rows, eye, focal, centre, size, background }) {
    this.resize(size);
    const words = new ArrayBuffer(112), floats = new Float32Array(words), integers = new Uint32Array(words);
    floats.set([...rows.flat(), ...eye, 0, ...focal, ...centre, ...size]);
    integers.set([this.scene.degree, this.scene.stride], 22);
    floats.set(background, 24);
    integers[27] = this.scene.antialiased ? 1 : 0;
    this.device.queue.writeBuffer(this.uniforms, 0, words);
    this.device.queue.writeBuffer(this.behind, 0, new Float32Array([...background, 0]));
    const encoder = this.device.createCommandEncoder();
    const pass = (view, pipeline, group, ...counts) => {
      const p = encoder.beginRenderPass({
        colorAttachments: [{ view, loadOp: 'clear', storeOp: 'store', clearValue: [0, 0, 0, 1] }],
      });
      p.setPipeline(pipeline);
      p.setBindGroup(0, group);
      p.draw(...counts);
      p.end();
    };
    pass(this.target.createView(), this.splats, this.group, 4, this.count);
    pass(this.context.getCurrentTexture().createView(), this.whole, this.lastGroup, 3);
    this.device.queue.submit([encoder.finish()]);
  }
}
