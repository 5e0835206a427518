#include "splat/train/step.hpp"

#include <rlx/ops/build.hpp>
#include <rlx/transforms.hpp>

#include <cmath>

#include "splat/emitted.hpp"
#include "splat/train/adam.hpp"
#include "splat/train/objective.hpp"

namespace rlx::splat::train {

namespace {

/// What a program is given beside the leaves of the state.
enum Input : std::size_t {
  in_image,
  in_view,
  in_lens,
  in_background,
  in_count,
  in_bands,
  in_index,
  in_scalars,
  in_counter
};
/// Elements of `scalars`: a rate for each group, then these.
enum Scalar : std::size_t { first_correction = groups, second_correction, noise_rate, scalar_count };

struct Arguments {
  Arguments(const Tensors& leaves, const Tensors& rest) : state(leaves) {
    look = {rest[in_image], rest[in_view], rest[in_lens], rest[in_background], rest[in_count], rest[in_bands]};
    view = rest[in_index];
    numbers = rest[in_scalars];
    step = rest[in_counter];
  }
  Tensor number(std::size_t k) const {
    const auto at = static_cast<std::int64_t>(k);
    return reshape(slice_axis(numbers, 0, at, at + 1), {});
  }
  Tensor value(std::size_t g) const { return state[g]; }
  Moments moments(std::size_t g) const { return {state[groups + g], state[2 * groups + g]}; }
  Tensor statistic(Statistic s) const { return state[3 * groups + s]; }
  Tensor visits() const { return state[State::leaf_count - 1]; }

  Tensors state;
  Look look;
  Tensor view, numbers, step;
};

/// The row of this step's view.
Tensor row_of(const Tensor& table, const Tensor& view) {
  const Tensor zero = Tensor::scalar(0, DType::i32);
  if (table.rank() == 1) return reshape(dynamic_slice(table, {view}, {1}), {});
  return reshape(dynamic_slice(table, {view, zero}, {1, table.dim(1)}), {table.dim(1)});
}
Tensor with_row(const Tensor& table, const Tensor& row, const Tensor& view) {
  const Tensor zero = Tensor::scalar(0, DType::i32);
  if (table.rank() == 1) return dynamic_update_slice(table, reshape(row, {1}), {view});
  return dynamic_update_slice(table, reshape(row, {1, table.dim(1)}), {view, zero});
}

Tensor unit_floats(const Tensor& bytes) { return convert(bytes, DType::f32) / 255; }

/// The loss and what else a step needs of the render: radii i32 [capacity, 2], entries of its lists.
Tensors loss(const Arguments& a, const Tensors& x, const TrainOptions& o, const RenderOptions& render) {
  // x: the scene, the rows of pose and exposure of this view, zeros that collect the gradients in the image.
  Look look = a.look;
  if (o.refine_poses) look.view = moved(look.view, x[poses]);
  const bool adaptive = o.densification == Densification::adaptive;
  const Tensor collecting = adaptive ? x[groups] : Tensor();
  const Drawn p = draw(std::span(x).first(scene_groups), look, render, o.adaptive.absolute ? collecting : Tensor(),
                       o.adaptive.absolute ? Tensor() : collecting);
  const Tensor shown = o.exposures ? exposed(p.image, x[exposures]) : p.image;
  Tensor total = difference(shown, unit_floats(look.image), o.ssim);
  const Tensor all = convert(look.count, DType::f32);
  if (const double weight = o.opacity_regularizer; weight > 0)
    total = total + weight * sum(opacity(x[opacities], look.count)) / all;
  if (const double weight = o.scale_regularizer; weight > 0) {
    const Tensor used = reshape(in_use(look.count, x[scales].dim(0)), {-1, 1});
    total = total + weight * sum(where(used, exp(x[scales]), zeros_like(x[scales]))) / (3 * all);
  }
  return {total, p.radii, p.wanted};
}

/// Means that wander along their Gaussians, the more the fainter these are (Kheradmand 2024, equation 9).
Tensor wandered(const Arguments& a, const Tensors& scene, std::uint64_t seed) {
  const Tensor normal = random_normal(random_key(seed), a.step, scene[means].shape(), DType::f32);
  const Tensor faint = sigmoid(-100 * (opacity(scene[opacities], a.look.count) - 0.005));
  const Tensor used = in_use(a.look.count, scene[means].dim(0));
  const Tensor covariance =
      emitted({scene[quats], exp(scene[scales])}, [](ValuesIn v) { return quat_scale_to_cov(v[0], v[1]); });
  const Tensor amount = where(used, faint, zeros_like(faint)) * a.number(noise_rate);
  const Tensor along = sum(covariance * reshape(normal, {-1, 1, 3}), {2});
  return scene[means] + reshape(amount, {-1, 1}) * along;
}

/// Statistics with this step in them.
Tensors counted(const Arguments& a, const Tensor& collected, const Tensor& boxes, std::int64_t width,
                std::int64_t height) {
  const Tensor radius = convert(max(boxes, {1}), DType::f32) / static_cast<double>(std::max(width, height));
  const Tensor used = in_use(a.look.count, radius.dim(0));
  const Tensor seen = logical_and(used, greater(radius, 0));
  const Tensor x = reshape(slice_axis(collected, 2, 0, 1), {-1}) * (static_cast<double>(width) / 2),
               y = reshape(slice_axis(collected, 2, 1, 2), {-1}) * (static_cast<double>(height) / 2);
  const Tensor none = zeros_like(radius);
  return {a.statistic(gradients) + where(seen, sqrt(x * x + y * y), none),
          a.statistic(sights) + convert(seen, DType::f32), maximum(a.statistic(radii), where(seen, radius, none))};
}

/// What a step gives after the leaves of the state.
enum Output : std::size_t { out_loss = State::leaf_count, out_wanted, out_finite, out_count };

/// Of each group whether its gradient is finite, and of the loss; bool [groups + 1].
Tensor finite_parts(const Tensor& loss, const Tensors& gradient) {
  Tensors parts;
  for (std::size_t g = 0; g < groups; ++g)
    parts.push_back(gradient[g].numel() == 0 ? full({}, 1, DType::boolean) : all(is_finite(gradient[g])));
  parts.push_back(is_finite(loss));
  return stack(parts);
}

/// The same values, computed before what uses them: what is computed from them reads them where they stand, and does
/// not compute them again from a state that they are written over.
Tensors settled(const Tensors& xs) {
  Tensors out;
  for (const Handle& h : build({xs.begin(), xs.end()}, [](Builder&, ValuesIn v) { return ops::barrier(v); }))
    out.emplace_back(h);
  return out;
}

/// A step that is not whole, or not finite, leaves the state as it was: whoever gave it away has it still.
struct Update {
  const Arguments& a;
  const Tensor good;  ///< bool
  Tensors next = a.state;

  void store(std::size_t at, const Tensor& x) { next[at] = where(good, x, a.state[at]); }
  void settle(std::size_t from, std::size_t to) {
    const Tensors done =
        settled({next.begin() + static_cast<std::ptrdiff_t>(from), next.begin() + static_cast<std::ptrdiff_t>(to)});
    std::copy(done.begin(), done.end(), next.begin() + static_cast<std::ptrdiff_t>(from));
  }
};

void update_scene(Update& u, const Tensors& gradient, const TrainOptions& o) {
  const Corrections c{u.a.number(first_correction), u.a.number(second_correction)};
  for (std::size_t g = 0; g < scene_groups; ++g) {
    const Moments m = next_moments(u.a.moments(g), gradient[g]);
    u.store(groups + g, m.first), u.store(2 * groups + g, m.second);
  }
  u.settle(groups, 3 * groups);
  for (std::size_t g = 0; g < scene_groups; ++g)
    u.store(g, u.a.value(g) - adam_step({u.next[groups + g], u.next[2 * groups + g]}, u.a.number(g), c));
  if (o.densification != Densification::mcmc) return;
  u.settle(0, scene_groups);
  u.next[means] = where(u.good, wandered(u.a, u.next, o.seed), u.next[means]);
}

/// What belongs to a view is moved when that view is looked at, and counts those steps alone. x: its rows.
void update_view(Update& u, const Tensors& x, const Tensors& gradient, const TrainOptions& o) {
  const Arguments& a = u.a;
  const Tensor visits = row_of(a.visits(), a.view) + 1;
  const Corrections own{1 - pow(full_like(visits, first_decay), visits),
                        1 - pow(full_like(visits, second_decay), visits)};
  u.store(State::leaf_count - 1, with_row(a.visits(), visits, a.view));
  for (const Group g : {poses, exposures}) {
    if (!(g == poses ? o.refine_poses : o.exposures)) continue;
    const Moments table = a.moments(g);
    const Moments row = next_moments({row_of(table.first, a.view), row_of(table.second, a.view)}, gradient[g]);
    u.store(g, with_row(a.value(g), x[g] - adam_step(row, a.number(g), own), a.view));
    u.store(groups + g, with_row(table.first, row.first, a.view));
    u.store(2 * groups + g, with_row(table.second, row.second, a.view));
  }
}

/// The state's leaves after a step, then the loss, how many entries the lists would have had, and what was finite.
Tensors stepped(const Arguments& a, const TrainOptions& o, const RenderOptions& render) {
  Tensors x(a.state.begin(), a.state.begin() + scene_groups);
  x.push_back(row_of(a.value(poses), a.view));
  x.push_back(row_of(a.value(exposures), a.view));
  if (o.densification == Densification::adaptive) x.push_back(zeros({1, x[means].dim(0), 2}, DType::f32));
  const auto [out, gradient] = value_and_grad([&](const Tensors& x) { return loss(a, x, o, render); })(x);
  const Tensor finite = finite_parts(out[0], gradient);
  Update u{a, logical_and(all(finite), less_equal(out[2], render.entries.constant()))};
  update_view(u, x, gradient, o);
  update_scene(u, gradient, o);
  if (o.densification == Densification::adaptive) {
    const Tensors s = counted(a, gradient[groups], out[1], render.project.width, render.project.height);
    for (std::size_t k = 0; k < statistics; ++k) u.store(3 * groups + k, s[k]);
  }
  for (const Tensor& x : {out[0], out[2], finite}) u.next.push_back(x);
  return u.next;
}

Tensors looks(const State& s, const ViewArrays& v, const StepNumbers& n) {
  std::array<double, scalar_count> scalar{};
  std::copy(n.rates.begin(), n.rates.end(), scalar.begin());
  const auto t = static_cast<double>(s.step + 1);
  scalar[first_correction] = 1 - std::pow(first_decay, t);
  scalar[second_correction] = 1 - std::pow(second_decay, t);
  scalar[noise_rate] = n.noise;
  const double colour[] = {n.background[0], n.background[1], n.background[2]};
  const auto integer = [](DType t, std::int64_t i) { return Tensor(HostTensor::scalar_i64(t, i)); };
  return {v.image,
          v.view,
          v.intrinsics,
          HostTensor::from(DType::f32, {3}, colour),
          integer(DType::i32, s.count),
          integer(DType::i32, formats::sh_coefficients(n.degree) - 1),
          integer(DType::i32, n.view),
          HostTensor::from(DType::f32, {scalar_count}, scalar),
          integer(DType::u64, s.step << 32)};
}

/// Throws unless all that finite_parts() looks at is finite.
void check_finite(const HostTensor& finite, std::int64_t step) {
  for (std::size_t g = 0; g <= groups; ++g) {
    if (finite.get_i64(static_cast<std::int64_t>(g)) != 0) continue;
    const std::string what = g == groups ? "the loss" : std::string("the gradient of ") + group_names[g];
    if (g < groups && finite.get_i64(groups) == 0) continue;  // The loss is what led to it.
    throw NumericalError("splat.train", step,
                         "training diverged in step " + std::to_string(step) + ": " + what + " is not finite");
  }
}

}  // namespace

Programs::Programs(const TrainOptions& options, std::int64_t gaussians) : options_(options), room_(8 * gaussians) {}

RenderOptions Programs::render_options(const ViewArrays& v) const {
  return {.project = {.width = v.width(), .height = v.height()},
          .degree = options_.degree,
          .mode = options_.mode,
          .entries = room_.entries(),
          .cut = true};
}

const StepProgram& Programs::step_program(const ViewArrays& v) {
  const auto [it, is_new] = steps_.try_emplace({room_.entries(), v.height(), v.width()}, nullptr);
  if (is_new) {
    std::function<Tensors(const Tensors&, const Tensors&)> f = [o = options_, render = render_options(v)](
                                                                   const Tensors& state, const Tensors& look) {
      return stepped(Arguments(state, look), o, render);
    };
    it->second = std::make_unique<StepProgram>(jit(std::move(f), {.device = options_.device}, Here::nowhere()));
  }
  return *it->second;
}

double Programs::step(State& s, const ViewArrays& v, const StepNumbers& n) {
  const Tensors look = looks(s, v, n);
  const Tensors out = room_.fitted(out_wanted, [&] {
    const StepProgram& program = step_program(v);
    Tensors state = s.take_leaves();
    try {
      Tensors all = program(donate(state), look);
      s.set_leaves(all);
      std::fill_n(all.begin(), State::leaf_count, Tensor());  // The state alone holds its memory.
      return all;
    } catch (...) {
      // What could not begin has used up nothing.
      if (std::all_of(state.begin(), state.end(), [](const Tensor& x) { return x.defined(); })) s.set_leaves(state);
      throw;
    }
  });
  check_finite(out[out_finite].host_tensor(), s.step + 1);
  ++s.step;
  return out[out_loss].item();
}

const StepProgram& Programs::picture_program(const ViewArrays& v, bool learnt) {
  const auto [it, is_new] = pictures_[learnt].try_emplace({room_.entries(), v.height(), v.width()}, nullptr);
  if (is_new) {
    std::function<Tensors(const Tensors&, const Tensors&)> f = [o = options_, render = render_options(v), learnt](
                                                                   const Tensors& state, const Tensors& look_at) {
      const Arguments a(state, look_at);
      Look look = a.look;
      if (learnt && o.refine_poses) look.view = moved(look.view, row_of(a.value(poses), a.view));
      const Drawn p = draw(std::span(a.state).first(scene_groups), look, render);
      return Tensors{learnt && o.exposures ? exposed(p.image, row_of(a.value(exposures), a.view)) : p.image, p.wanted};
    };
    it->second = std::make_unique<StepProgram>(jit(std::move(f), {.device = options_.device}, Here::nowhere()));
  }
  return *it->second;
}

HostTensor Programs::picture(const State& s, const ViewArrays& v, const StepNumbers& n, bool learnt) {
  const Tensors state = s.leaves(), look = looks(s, v, n);
  return room_.fitted(1, [&] { return picture_program(v, learnt)(state, look); })[0].host_tensor();
}

std::size_t Programs::compiled() const {
  std::size_t n = 0;
  for (const auto& [key, program] : steps_) n += program->signatures();
  return n;
}

std::string Programs::kept_apart() const {
  std::string out;
  for (const auto& [key, program] : steps_)
    for (const DonationRow& row : program->report().donations)
      if (row.result.empty()) out += row.input + ": " + row.why + "\n";
  return out;
}

runtime::ExecutableStatistics Programs::statistics() const {
  runtime::ExecutableStatistics all;
  for (const auto& [key, program] : steps_) {
    const runtime::ExecutableStatistics s = program->statistics();
    all.calls += s.calls;
    all.peak_bytes = std::max(all.peak_bytes, s.peak_bytes);
    all.in_place_bytes += s.in_place_bytes;
    all.copied_bytes += s.copied_bytes;
  }
  return all;
}

}  // namespace rlx::splat::train
