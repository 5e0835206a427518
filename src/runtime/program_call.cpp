#include "runtime/program_call.hpp"

#include "runtime/narrow.hpp"

#include <rlx/ir/counted.hpp>

#include <algorithm>
#include <map>
#include <set>
#include <utility>

namespace rlx::runtime {

ProgramCall::ProgramCall(LoadedProgram& program, const Block& arena, Arguments arguments, HostValues reuse)
    : p_(program),
      arena_(arena),
      arguments_(arguments),
      resources_(program.steps.resource_slots),
      results_(std::move(reuse)) {
  unshare_donated();
  bind_inputs();
  make_outputs();
  bound_.reserve(p_.steps.places.size());
  for (const Place& p : p_.steps.places) bound_.push_back(bind(p));
  if (p_.checked || p_.watches) checks_ = p_.module->check_record();
  if (p_.numerics) numbers_.emplace(p_.steps, *p_.name, [this](int place) { return contents(place); });
}

ProgramCall::~ProgramCall() { p_.meter.add(-output_bytes_); }

HostValues ProgramCall::run() {
  take_donated();
  try {
    steps(p_.steps.steps);
  } catch (const NumericalError&) {
    refuse_checked();  // What led to it is named better.
    throw;
  }
  refuse_checked();
  return results();
}

// A donated argument that another value shares keeps that one's elements: the program gets a copy to write over.
void ProgramCall::unshare_donated() {
  if (p_.donated.empty()) return;
  std::set<std::size_t> written;
  for (std::size_t i = 0; i < p_.steps.output_places.size(); ++i)
    if (const Place* p = output_place(i); p && p->kind == Place::Kind::input) written.insert(p->index);
  if (written.empty()) return;
  std::size_t input = 0;
  for (std::size_t i = 0; i < arguments_.values().size(); ++i) {
    const std::size_t parts = std::max<std::size_t>(arrays(arguments_.values()[i]).size(), 1);
    for (std::size_t part = 0; part < parts; ++part, ++input) {
      if (!written.contains(input)) continue;
      HostTensor& t = *arrays(arguments_.to_take(i))[part];
      const std::byte* const shared = t.data();
      p_.in_place_bytes += t.bytes();
      if (t.mutable_data() == shared) continue;
      p_.copied_bytes += t.bytes();
      output_bytes_ += t.bytes();
    }
  }
}

// From here on the elements are this call's: the steps write over them.
void ProgramCall::take_donated() {
  if (p_.donated.empty()) return;
  std::vector<std::size_t> first;
  std::size_t input = 0;
  for (const HostValue& v : arguments_.values()) {
    first.push_back(input);
    input += std::max<std::size_t>(arrays(v).size(), 1);
  }
  for (std::size_t i : p_.donated) {
    std::size_t at = first[i];
    HostValue& v = arguments_.to_take(i);
    for (HostTensor* t : arrays(v)) donated_[at++] = std::move(*t);
    v = HostToken{};
  }
}

void ProgramCall::bind_inputs() {
  inputs_.reserve(p_.steps.input_slots.size());
  std::size_t input = 0;
  for (const HostValue& v : arguments_.values()) {
    if (const auto* r = std::get_if<HostResource>(&v)) {
      resources_[static_cast<std::size_t>(p_.steps.input_slots[input++])] = {r->type, r->data};
      inputs_.push_back({});
      continue;
    }
    for (const HostTensor* t : arrays(v)) {
      ++input;
      if (p_.device->host_addressable()) {
        // Programs write to no inputs but those that are donated, which are this call's own.
        inputs_.push_back({const_cast<std::byte*>(t->data()), t->bytes()});
        continue;
      }
      device_inputs_.emplace_back(*p_.device, p_.meter, t->bytes());
      p_.device->upload(device_inputs_.back().allocation(), 0, t->data(), t->bytes());
      inputs_.push_back(device_inputs_.back().allocation());
    }
  }
}

void ProgramCall::make_outputs() {
  outputs_.reserve(p_.outputs.size());
  output_allocations_.reserve(p_.outputs.size());
  for (const OutputMemory& o : p_.outputs) {
    auto* const earlier = o.result < results_.size() ? std::get_if<HostTensor>(&results_[o.result]) : nullptr;
    if (earlier && earlier->dtype() == o.dtype && earlier->shape() == o.shape) outputs_.push_back(std::move(*earlier));
    else outputs_.emplace_back(o.dtype, o.shape);
    output_bytes_ += outputs_.back().bytes();
    if (!p_.device->host_addressable()) device_outputs_.emplace_back(*p_.device, p_.meter, outputs_.back().bytes());
  }
  results_.clear();
  p_.meter.add(output_bytes_);
  for (std::size_t i = 0; i < outputs_.size(); ++i)
    output_allocations_.push_back(p_.device->host_addressable()
                                      ? Allocation{outputs_[i].mutable_data(), outputs_[i].bytes()}
                                      : device_outputs_[i].allocation());
}

KernelBuffer ProgramCall::bind(const Place& p) const {
  switch (p.kind) {
    case Place::Kind::input:
      return {&inputs_[p.index], p.offset};
    case Place::Kind::arena:
      return {&arena_.allocation(), p.offset};
    case Place::Kind::constant:
      return {&p_.constants[p.index]->allocation(), p.offset};
    case Place::Kind::output:
      return {&output_allocations_[p.index], p.offset};
    case Place::Kind::none:
      return {};
  }
  throw InternalError("a buffer without place");
}

void ProgramCall::steps(const std::vector<Step>& list) {
  for (const Step& s : list) {
    const auto start = p_.trace ? Trace::Clock::now() : Trace::Clock::time_point{};
    execute(s);
    if (p_.trace) {
      p_.device->synchronize();  // What a queue only takes note of took no time yet.
      p_.trace->record(s.info, p_.name, start, Trace::Clock::now());
    }
    if (numbers_) numbers_->check_stored(s);
  }
}

void ProgramCall::execute(const Step& s) {
  switch (s.kind) {
    case Step::Kind::kernel:
      launch(s);
      break;
    case Step::Kind::copy:
      p_.device->copy(*at(s.places[1]).allocation, at(s.places[1]).byte_offset, *at(s.places[0]).allocation,
                      at(s.places[0]).byte_offset, p_.place(s.places[0]).bytes);
      break;
    case Step::Kind::call:
      call(s);
      break;
    case Step::Kind::loop:
      loop(s);
      break;
    case Step::Kind::branch:
      steps(truth(s.places[0]) ? s.if_true : s.if_false);
      break;
  }
}

void ProgramCall::launch(const Step& kernel) {
  launched_.clear();
  for (int p : kernel.places) launched_.push_back(at(p));
  p_.module->launch(kernel.index, launched_, checks_.get());
}

void ProgramCall::loop(const Step& s) {
  if (s.trips >= 0) return counted_loop(s);
  std::int64_t trips = 0;
  for (steps(s.condition); truth(s.answer); steps(s.condition)) {
    if (trips++ == s.max_trips)
      throw NumericalError("while",
                           "while: the condition still holds after max_trips = " + counted(s.max_trips, "trip"),
                           s.max_trips, -1);
    steps(s.body);
  }
}

void ProgramCall::counted_loop(const Step& s) {
  constexpr std::int64_t queued = 256;  // Trips that a device's queue has to hold at most.
  for (std::int64_t trip = 0; trip < s.trips; ++trip) {
    steps(s.body);
    if (trip % queued == queued - 1) p_.device->synchronize();
  }
}

bool ProgramCall::truth(int place) const {
  std::uint8_t byte = 0;
  p_.device->download(&byte, *at(place).allocation, at(place).byte_offset, 1);
  return byte != 0;
}

// Throws what the checks of kernels found, once these were waited for.
void ProgramCall::refuse_checked() {
  p_.device->synchronize();
  if (!checks_) return;
  if (const CheckReport c = checks_->take(); c.refused()) p_.refuse(c);
}

HostValues ProgramCall::results() {
  if (!p_.device->host_addressable()) {
    for (std::size_t i = 0; i < outputs_.size(); ++i)
      p_.device->download(outputs_[i].mutable_data(), device_outputs_[i].allocation(), 0, outputs_[i].bytes());
    for (std::size_t i = 0; i < p_.steps.output_places.size(); ++i)
      if (const Place* p = output_place(i); p && p->kind == Place::Kind::input)
        p_.device->download(donated_[p->index].mutable_data(), inputs_[p->index], 0, p->bytes);
  }
  HostValues out = std::move(results_);
  std::size_t next = 0;
  for (const Type& t : p_.output_types) out.push_back(take(t, next));
  if (p_.padded_results || p_.program.sizes.empty()) return out;
  Bindings sizes;
  for (const SizeResult& s : p_.program.sizes) sizes[s.symbol] = output(next).get_i64(0);
  // A result of such a size stands in a buffer of the greatest one: its elements come first along each dimension.
  for (std::size_t i = 0; i < out.size(); ++i)
    if (const auto* t = std::get_if<TensorType>(&p_.output_types[i]); t && !is_constant(p_.output_types[i]))
      out[i] = leading(std::get<HostTensor>(out[i]), constant_shape(substitute(t->shape, sizes)));
  return out;
}

const Place* ProgramCall::output_place(std::size_t output) const {
  const int place = p_.steps.output_places[output];
  return place < 0 ? nullptr : &p_.place(place);
}

HostTensor ProgramCall::output(std::size_t& next) {
  const Place& p = *output_place(next++);
  return std::move(p.kind == Place::Kind::input ? donated_.at(p.index) : outputs_[p.index]);
}

HostValue ProgramCall::take(const Type& t, std::size_t& next) {
  if (std::holds_alternative<TensorType>(t)) return output(next);
  if (const auto* s = std::get_if<SparseType>(&t)) {
    HostSparse out{*s, output(next), {}, {}};
    out.indices = output(next);
    out.values = output(next);
    return out;
  }
  if (std::holds_alternative<TokenType>(t)) return HostToken{};
  const ResourceValue& r = resources_[static_cast<std::size_t>(-1 - p_.steps.output_places[next++])];
  return HostResource{r.type, r.data};
}

BufferView ProgramCall::view(int place) const {
  const KernelBuffer& b = at(place);
  const TensorType& type = p_.place(place).type;
  if (!b.allocation) return {nullptr, type};
  auto* base = static_cast<std::byte*>(b.allocation->handle);
  return {p_.device->host_addressable() ? base + b.byte_offset : base, type, b.byte_offset};
}

std::vector<KernelBuffer> ProgramCall::buffers(const Step& s) const {
  std::vector<KernelBuffer> out;
  out.reserve(s.places.size());
  for (int p : s.places) out.push_back(at(p));
  return out;
}

HostTensor ProgramCall::contents(int place) const {
  const TensorType& t = p_.place(place).type;
  HostTensor x(t.dtype, constant_shape(t.shape));
  p_.device->download(x.mutable_data(), *at(place).allocation, at(place).byte_offset, x.bytes());
  return x;
}

}  // namespace rlx::runtime
