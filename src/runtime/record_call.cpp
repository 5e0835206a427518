// The launch of a record in a call of a program, and the kernels that it runs on pieces of its operands and result.
#include "ir/within.hpp"
#include "runtime/program_call.hpp"

#include <rlx/ir/counted.hpp>

namespace rlx::runtime {

void ProgramCall::call(const Step& s) {
  const Call& c = p_.steps.calls[s.index];
  std::vector<BufferView> in, out;
  for (int p : c.in_places) in.push_back(view(p));
  for (int p : c.out_places) out.push_back(view(p));
  std::vector<ResourceValue> used, made;
  for (int r : c.resource_slots) used.push_back(resources_[static_cast<std::size_t>(r)]);
  const Instance instance{
      c.op, &c.attrs, {c.operand_types, {}, nullptr}, c.result_types, &p_.device->target(), !s.prologues.empty()};
  BufferView workspace;
  workspace.type = tensor(DType::u8, {c.workspace_bytes});
  workspace.data =
      static_cast<std::byte*>(arena_.allocation().handle) + (p_.device->host_addressable() ? p_.steps.arena_bytes : 0);
  workspace.byte_offset = p_.steps.arena_bytes;
  // A record runs in the order of the queue, so what was enqueued before it must be done where the host runs it.
  p_.device->synchronize();
  const Epilogue after = epilogue(s);
  const std::vector<Prologue> before = prologues(s);
  try {
    std::get<Launch>(c.record->action.value)(
        {instance, in, used, out, &made, workspace, after ? &after : nullptr, before});
  } catch (const NumericalError&) { detail::rethrow_as(s.info->op); }
  if (made.size() != c.made_slots.size())
    throw InternalError(std::string(c.record->name.value) + " made " + counted(made.size(), "resource"));
  for (std::size_t i = 0; i < made.size(); ++i)
    resources_[static_cast<std::size_t>(c.made_slots[i])] = std::move(made[i]);
}

Epilogue ProgramCall::epilogue(const Step& call) const {
  if (call.epilogue.empty()) return {};
  const Step& s = call.epilogue[0];
  const std::int64_t row = p_.place(p_.steps.calls[call.index].out_places[0]).type.shape.back().constant();
  return [this, row, index = s.index, places = buffers(s)](std::int64_t begin, std::int64_t end) {
    p_.module->launch_rows(index, places, begin / row, end / row);
  };
}

std::vector<Prologue> ProgramCall::prologues(const Step& call) const {
  const Call& c = p_.steps.calls[call.index];
  std::vector<Prologue> out(call.prologues.empty() ? 0 : c.in_places.size());
  for (std::size_t i = 0; i < out.size(); ++i)
    if (c.prologues[i] >= 0) {
      const Step& s = call.prologues[static_cast<std::size_t>(c.prologues[i])];
      std::vector<KernelBuffer> read = buffers(s);
      read.pop_back();  // What it makes has no place: a piece of it comes with each launch.
      out[i] = [this, index = s.index, read = std::move(read)](std::int64_t begin, std::int64_t end, void* base) {
        p_.module->launch_piece(index, read, begin, end, base);
      };
    }
  return out;
}

}  // namespace rlx::runtime
