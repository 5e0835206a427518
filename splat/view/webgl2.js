// Drawing by WebGL2: Gaussians and harmonics in textures of floats, read by number.
//
// Gaussians are drawn nearest first into a target of half floats whose alpha is the transmittance, each adding its colour
// times alpha times what is left: nothing is rounded to 8 bits on the way. The last pass puts the background behind.

const WIDTH = 4096;  // of the textures

const VERTEX = `#version 300 es
precision highp float;
precision highp sampler2D;
precision highp usampler2D;
uniform sampler2D shapes, colours;
uniform usampler2D order;
uniform vec4 row_x, row_y, row_z;
uniform vec3 eye;
uniform vec2 focal, centre, size;
uniform int degree, stride, antialiased;
out vec2 at;
flat out vec4 colour;

vec4 shape(int i) { return texelFetch(shapes, ivec2(i % ${WIDTH}, i / ${WIDTH}), 0); }
float coefficient(int gaussian, int k) {
  int i = gaussian * stride + k / 4;
  return texelFetch(colours, ivec2(i % ${WIDTH}, i / ${WIDTH}), 0)[k % 4];
}
vec3 sh(int gaussian, int m) {
  return vec3(coefficient(gaussian, 3 * m), coefficient(gaussian, 3 * m + 1), coefficient(gaussian, 3 * m + 2));
}
vec3 seen(int g, vec3 d) {
  vec3 c = 0.28209479177387814 * sh(g, 0);
  if (degree > 0)
    c += 0.48860251190291987 * (-d.y * sh(g, 1) + d.z * sh(g, 2) - d.x * sh(g, 3));
  float x = d.x, y = d.y, z = d.z, xx = x * x, yy = y * y, zz = z * z;
  if (degree > 1)
    c += 1.0925484305920792 * (x * y * sh(g, 4) - y * z * sh(g, 5) - x * z * sh(g, 7)) +
         0.31539156525252005 * (2.0 * zz - xx - yy) * sh(g, 6) + 0.5462742152960396 * (xx - yy) * sh(g, 8);
  if (degree > 2)
    c += -0.5900435899266435 * (y * (3.0 * xx - yy) * sh(g, 9) + x * (xx - 3.0 * yy) * sh(g, 15)) +
         2.890611442640554 * x * y * z * sh(g, 10) + 1.445305721320277 * z * (xx - yy) * sh(g, 14) -
         0.4570457994644658 * (4.0 * zz - xx - yy) * (y * sh(g, 11) + x * sh(g, 13)) +
         0.3731763325901154 * z * (2.0 * zz - 3.0 * xx - 3.0 * yy) * sh(g, 12);
  if (degree > 3) {
    float seven = 7.0 * zz - 1.0, seven3 = z * (7.0 * zz - 3.0), y3 = y * (3.0 * xx - yy), x3 = x * (xx - 3.0 * yy);
    c += 2.5033429417967046 * x * y * (xx - yy) * sh(g, 16) - 1.7701307697799304 * z * (y3 * sh(g, 17) + x3 * sh(g, 23)) +
         0.9461746957575601 * x * y * seven * sh(g, 18) - 0.6690465435572892 * seven3 * (y * sh(g, 19) + x * sh(g, 21)) +
         0.10578554691520431 * (zz * (35.0 * zz - 30.0) + 3.0) * sh(g, 20) +
         0.47308734787878004 * (xx - yy) * seven * sh(g, 22) + 0.6258357354491761 * (x * x3 - y * y3) * sh(g, 24);
  }
  return max(c + 0.5, 0.0);
}

void main() {
  gl_Position = vec4(0, 0, 2, 1);  // outside
  int g = int(texelFetch(order, ivec2(gl_InstanceID % ${WIDTH}, gl_InstanceID / ${WIDTH}), 0).x);
  vec4 mean = shape(3 * g), first = shape(3 * g + 1), last = shape(3 * g + 2);
  vec3 p = vec3(dot(row_x.xyz, mean.xyz) + row_x.w, dot(row_y.xyz, mean.xyz) + row_y.w,
                dot(row_z.xyz, mean.xyz) + row_z.w);
  // The Jacobian is that of x / z and y / z within the image and 0.15 of its size around it.
  vec2 margin = 0.15 * size;
  vec2 slope = clamp(p.xy / p.z, (-centre - margin) / focal, (size - centre + margin) / focal);
  vec3 jx = focal.x / p.z * (row_x.xyz - slope.x * row_z.xyz), jy = focal.y / p.z * (row_y.xyz - slope.y * row_z.xyz);
  mat3 covariance = mat3(first.x, first.y, first.z, first.y, first.w, last.x, first.z, last.x, last.y);
  vec3 cx = covariance * jx, cy = covariance * jy;
  float xx = dot(jx, cx), xy = dot(jx, cy), yy = dot(jy, cy), before = xx * yy - xy * xy;
  xx += 0.3;
  yy += 0.3;
  float determinant = xx * yy - xy * xy;
  if (!(determinant > 0.0)) return;
  float opacity = mean.w;
  if (antialiased != 0) opacity *= sqrt(max(before / determinant, 0.0));
  if (opacity < 1.0 / 255.0) return;
  // Along the axes of the ellipse, in standard deviations, to where alpha is 1 / 255.
  float middle = 0.5 * (xx + yy), part = length(vec2(0.5 * (xx - yy), xy)), larger = middle + part;
  vec2 axis = xx >= yy ? vec2(part + 0.5 * (xx - yy), xy) : vec2(xy, part + 0.5 * (yy - xx));
  axis = dot(axis, axis) > 0.0 ? normalize(axis) : vec2(1, 0);
  at = (vec2(gl_VertexID & 1, gl_VertexID >> 1) * 2.0 - 1.0) * sqrt(2.0 * log(255.0 * opacity));
  vec2 offset = at.x * sqrt(larger) * axis + at.y * sqrt(determinant / larger) * vec2(-axis.y, axis.x);
  vec2 pixel = focal * p.xy / p.z + centre + offset;
  gl_Position = vec4((2.0 * pixel / size - 1.0) * vec2(1, -1), 0, 1);
  colour = vec4(seen(g, normalize(mean.xyz - eye)), opacity);
}`;

const FRAGMENT = `#version 300 es
precision highp float;
in vec2 at;
flat in vec4 colour;
out vec4 result;
void main() {
  float alpha = min(0.999, colour.a * exp(-0.5 * dot(at, at)));
  if (alpha < 1.0 / 255.0) discard;
  result = vec4(colour.rgb * alpha, alpha);
}`;

const WHOLE = `#version 300 es
void main() { gl_Position = vec4(vec2(gl_VertexID & 1, gl_VertexID >> 1) * 4.0 - 1.0, 0, 1); }`;

const LAST = `#version 300 es
precision highp float;
uniform sampler2D target;
uniform vec3 background;
out vec4 result;
void main() {
  vec4 c = texelFetch(target, ivec2(gl_FragCoord.xy), 0);
  result = vec4(c.rgb + c.a * background, 1);
}`;

export class Renderer {
  static async make(canvas) {
    const gl = canvas.getContext('webgl2', { alpha: false, antialias: false, depth: false });
    if (!gl) throw new Error('not there');
    if (!gl.getExtension('EXT_color_buffer_float') && !gl.getExtension('EXT_color_buffer_half_float'))
      throw new Error('half floats cannot be drawn to');
    return new Renderer(canvas, gl);
  }

  constructor(canvas, gl) {
    this.name = 'webgl2';
    this.gl = gl;
    this.count = 0;
    this.lost = new Promise(done => canvas.addEventListener('webglcontextlost', () => done('context')));
    this.splats = this.program(VERTEX, FRAGMENT);
    this.whole = this.program(WHOLE, LAST);
    [this.shapes, this.colours, this.order, this.target] = [0, 1, 2, 3].map(() => gl.createTexture());
    this.frame = gl.createFramebuffer();
    this.array = gl.createVertexArray();
    this.size = [0, 0];
  }

  program(vertex, fragment) {
    const gl = this.gl, made = gl.createProgram(), shaders = [];
    for (const [type, text] of [[gl.VERTEX_SHADER, vertex], [gl.FRAGMENT_SHADER, fragment]]) {
      const shader = gl.createShader(type);
      gl.shaderSource(shader, text);
      gl.compileShader(shader);
      gl.attachShader(made, shader);
      shaders.push(shader);
    }
    gl.linkProgram(made);
    if (!gl.getProgramParameter(made, gl.LINK_STATUS))
      throw new Error(shaders.map(s => gl.getShaderInfoLog(s)).join('') + gl.getProgramInfoLog(made));
    const places = {};
    for (let i = 0; i < gl.getProgramParameter(made, gl.ACTIVE_UNIFORMS); ++i) {
      const { name } = gl.getActiveUniform(made, i);
      places[name] = gl.getUniformLocation(made, name);
    }
    return { program: made, places };
  }

  /// `data` in rows of WIDTH texels of `channels` numbers.
  upload(texture, data, channels, internal, format, type) {
    const gl = this.gl, texels = data.length / channels, height = Math.max(1, Math.ceil(texels / WIDTH));
    if (height > gl.getParameter(gl.MAX_TEXTURE_SIZE)) throw new Error('the scene is too large for WebGL2');
    gl.bindTexture(gl.TEXTURE_2D, texture);
    gl.texParameteri(gl.TEXTURE_2D, gl.TEXTURE_MIN_FILTER, gl.NEAREST);
    gl.texParameteri(gl.TEXTURE_2D, gl.TEXTURE_MAG_FILTER, gl.NEAREST);
    gl.texImage2D(gl.TEXTURE_2D, 0, internal, WIDTH, height, 0, format, type, null);
    const rows = Math.floor(texels / WIDTH), whole = rows * WIDTH * channels;
    if (rows > 0) gl.texSubImage2D(gl.TEXTURE_2D, 0, 0, 0, WIDTH, rows, format, type, data.subarray(0, whole));
    if (whole < data.length)
      gl.texSubImage2D(gl.TEXTURE_2D, 0, 0, rows, texels - rows * WIDTH, 1, format, type, data.subarray(whole));
  }

  setScene(scene) {
    const gl = this.gl;
    this.upload(this.shapes, scene.shapes, 4, gl.RGBA32F, gl.RGBA, gl.FLOAT);
    this.upload(this.colours, scene.colours, 4, gl.RGBA32F, gl.RGBA, gl.FLOAT);
    this.scene = scene;
    this.count = 0;
  }

  setOrder(order) {
    const gl = this.gl;
    this.upload(this.order, order, 1, gl.R32UI, gl.RED_INTEGER, gl.UNSIGNED_INT);
    this.count = order.length;
  }

  resize([width, height]) {
    const gl = this.gl;
    if (this.size[0] === width && this.size[1] === height) return;
    this.size = [width, height];
    gl.bindTexture(gl.TEXTURE_2D, this.target);
    gl.texParameteri(gl.TEXTURE_2D, gl.TEXTURE_MIN_FILTER, gl.NEAREST);
    gl.texParameteri(gl.TEXTURE_2D, gl.TEXTURE_MAG_FILTER, gl.NEAREST);
    gl.texImage2D(gl.TEXTURE_2D, 0, gl.RGBA16F, width, height, 0, gl.RGBA, gl.HALF_FLOAT, null);
    gl.bindFramebuffer(gl.FRAMEBUFFER, this.frame);
    gl.framebufferTexture2D(gl.FRAMEBUFFER, gl.COLOR_ATTACHMENT0, gl.TEXTURE_2D, this.target, 0);
  }

  draw({ rows, eye, focal, centre, size, background }) {
    const gl = this.gl;
    this.resize(size);
    gl.bindVertexArray(this.array);
    gl.viewport(0, 0, ...size);
    gl.bindFramebuffer(gl.FRAMEBUFFER, this.frame);
    gl.clearColor(0, 0, 0, 1);
    gl.clear(gl.COLOR_BUFFER_BIT);
    if (this.count > 0) {
      const { program, places } = this.splats;
      gl.useProgram(program);
      [this.shapes, this.colours, this.order].forEach((texture, unit) => {
        gl.activeTexture(gl.TEXTURE0 + unit);
        gl.bindTexture(gl.TEXTURE_2D, texture);
      });
      gl.uniform1i(places.shapes, 0);
      gl.uniform1i(places.colours, 1);
      gl.uniform1i(places.order, 2);
      gl.uniform4fv(places.row_x, rows[0]);
      gl.uniform4fv(places.row_y, rows[1]);
      gl.uniform4fv(places.row_z, rows[2]);
      gl.uniform3fv(places.eye, eye);
      gl.uniform2fv(places.focal, focal);
      gl.uniform2fv(places.centre, centre);
      gl.uniform2fv(places.size, size);
      gl.uniform1i(places.degree, this.scene.degree);
      gl.uniform1i(places.stride, this.scene.stride);
      gl.uniform1i(places.antialiased, this.scene.antialiased ? 1 : 0);
      gl.enable(gl.BLEND);
      gl.blendFuncSeparate(gl.DST_ALPHA, gl.ONE, gl.ZERO, gl.ONE_MINUS_SRC_ALPHA);
      gl.drawArraysInstanced(gl.TRIANGLE_STRIP, 0, 4, this.count);
      gl.disable(gl.BLEND);
      gl.activeTexture(gl.TEXTURE0);
    }
    gl.bindFramebuffer(gl.FRAMEBUFFER, null);
    gl.useProgram(this.whole.program);
    gl.bindTexture(gl.TEXTURE_2D, this.target);
    gl.uniform1i(this.whole.places.target, 0);
    gl.uniform3fv(this.whole.places.background, background);
    gl.drawArrays(gl.TRIANGLES, 0, 3);
  }
}
