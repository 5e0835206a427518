#include "splat/train/state.hpp"

#include <algorithm>
#include <cstring>

namespace rlx::splat::train {

namespace {

std::size_t row_bytes(const HostTensor& t) {
  return t.shape()[0] == 0 ? 0 : static_cast<std::size_t>(t.bytes() / t.shape()[0]);
}

/// `t` with `rows` of it, then zeros up to the capacity; places from `fresh_from` on are zero too.
HostTensor gathered(const HostTensor& t, std::span<const std::int64_t> rows, std::int64_t capacity,
                    std::int64_t fresh_from) {
  std::vector<std::int64_t> shape = t.shape();
  const std::size_t bytes = row_bytes(t);
  shape[0] = capacity;
  HostTensor out(t.dtype(), std::move(shape));
  std::byte* to = out.mutable_data();
  const auto used = bytes > 0 ? std::min(rows.size(), static_cast<std::size_t>(fresh_from)) : 0;
  for (std::size_t i = 0; i < used; ++i)
    std::memcpy(to + i * bytes, t.data() + static_cast<std::size_t>(rows[i]) * bytes, bytes);
  return out;
}

HostTensor padded(const HostTensor& t, std::int64_t capacity, std::vector<std::int64_t> shape) {
  shape[0] = capacity;
  HostTensor out(DType::f32, std::move(shape));
  if (t.numel() > 0) std::memcpy(out.mutable_data(), t.data(), static_cast<std::size_t>(t.bytes()));
  return out;
}

void zero(HostTensor& t) { t = HostTensor(t.dtype(), t.shape()); }

void zero_row(HostTensor& t, std::int64_t row) {
  const std::size_t bytes = row_bytes(t);
  if (bytes > 0) std::memset(t.mutable_data() + static_cast<std::size_t>(row) * bytes, 0, bytes);
}

}  // namespace

Tensors State::leaves() const {
  Tensors out;
  for (const auto* list : {&values, &first, &second}) out.insert(out.end(), list->begin(), list->end());
  out.insert(out.end(), statistic.begin(), statistic.end());
  out.push_back(visits);
  return out;
}

Tensors State::take_leaves() {
  Tensors out = leaves();
  for (auto* list : {&values, &first, &second}) list->fill({});
  statistic.fill({});
  visits = {};
  return out;
}

void State::set_leaves(std::span<const Tensor> leaves) {
  std::size_t at = 0;
  for (auto* list : {&values, &first, &second})
    for (HostTensor& t : *list) t = leaves[at++].host_tensor();
  for (HostTensor& t : statistic) t = leaves[at++].host_tensor();
  visits = leaves[at].host_tensor();
}

std::int64_t capacity_for(std::int64_t count) {
  std::int64_t capacity = 256;
  while (capacity < count) capacity = (capacity * 3 / 2 + 63) / 64 * 64;
  return capacity;
}

State make_state(const formats::GaussianCloud& cloud, std::int64_t views) {
  State s;
  s.count = cloud.size();
  const std::int64_t capacity = capacity_for(s.count), k = formats::sh_coefficients(cloud.sh_degree);
  HostTensor base(DType::f32, {s.count, 1, 3}), rest(DType::f32, {s.count, k - 1, 3});
  const float* sh = cloud.sh.as<float>().data();
  float *b = base.as_mutable<float>().data(), *r = rest.as_mutable<float>().data();
  for (std::int64_t i = 0; i < s.count; ++i, sh += 3 * k) {
    b = std::copy_n(sh, 3, b);
    r = std::copy_n(sh + 3, 3 * (k - 1), r);
  }
  s.values = {padded(cloud.means, capacity, {0, 3}),      padded(cloud.quaternions, capacity, {0, 4}),
              padded(cloud.log_scales, capacity, {0, 3}), padded(cloud.opacity_logits, capacity, {0}),
              padded(base, capacity, {0, 1, 3}),          padded(rest, capacity, {0, k - 1, 3}),
              HostTensor(DType::f32, {views, 6}),         HostTensor(DType::f32, {views, 12})};
  for (auto* moments : {&s.first, &s.second})  // Each its own memory, which is written over.
    for (std::size_t g = 0; g < groups; ++g) (*moments)[g] = HostTensor(DType::f32, s.values[g].shape());
  for (HostTensor& t : s.statistic) t = HostTensor(DType::f32, {capacity});
  s.visits = HostTensor(DType::f32, {views});
  return s;
}

formats::GaussianCloud cloud_of(const State& s) {
  const std::int64_t k = s.values[harmonics].shape()[1] + 1;
  int degree = 0;
  while (formats::sh_coefficients(degree) < k) ++degree;
  formats::GaussianCloud c = formats::make_gaussian_cloud(s.count, degree);
  const auto copy = [](HostTensor& to, const HostTensor& from) {
    std::memcpy(to.mutable_data(), from.data(), static_cast<std::size_t>(to.bytes()));
  };
  copy(c.means, s.values[means]);
  copy(c.quaternions, s.values[quats]);
  copy(c.log_scales, s.values[scales]);
  copy(c.opacity_logits, s.values[opacities]);
  const float *b = s.values[colours].as<float>().data(), *r = s.values[harmonics].as<float>().data();
  float* sh = c.sh.as_mutable<float>().data();
  for (std::int64_t i = 0; i < s.count; ++i, b += 3, r += 3 * (k - 1))
    sh = std::copy_n(r, 3 * (k - 1), std::copy_n(b, 3, sh));
  return c;
}

void select_rows(State& s, std::span<const std::int64_t> rows, std::int64_t fresh_from) {
  const auto n = static_cast<std::int64_t>(rows.size());
  const std::int64_t capacity = n <= s.capacity() ? s.capacity() : capacity_for(n);
  for (std::size_t g = 0; g < scene_groups; ++g) {
    s.values[g] = gathered(s.values[g], rows, capacity, n);
    s.first[g] = gathered(s.first[g], rows, capacity, fresh_from);
    s.second[g] = gathered(s.second[g], rows, capacity, fresh_from);
  }
  for (HostTensor& t : s.statistic) t = gathered(t, rows, capacity, fresh_from);
  s.count = n;
}
void select_rows(State& s, std::span<const std::int64_t> rows) {
  select_rows(s, rows, static_cast<std::int64_t>(rows.size()));
}

void clear_moments(State& s, Group group) {
  zero(s.first[group]);
  zero(s.second[group]);
}
void clear_moments(State& s, std::int64_t row) {
  for (std::size_t g = 0; g < scene_groups; ++g) {
    zero_row(s.first[g], row);
    zero_row(s.second[g], row);
  }
}
void clear_statistics(State& s) {
  for (HostTensor& t : s.statistic) zero(t);
}

}  // namespace rlx::splat::train
