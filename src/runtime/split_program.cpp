#include "runtime/split_program.hpp"

#include "compile/open_rows.hpp"
#include "runtime/kept_programs.hpp"
#include "runtime/trial_values.hpp"

#include <rlx/ir/op.hpp>

#include <algorithm>
#include <atomic>
#include <iterator>
#include <set>
#include <utility>

namespace rlx::runtime {
namespace {

using compile::SizePoint;

/// Puts what a part's report says into the rows of the whole graph. `counted` is the row of the size, which the head
/// only computes the count for.
void merge(DispatchReport& whole, const DispatchReport& part, const std::vector<int>& rows, int counted = -1) {
  for (std::size_t i = 0; i < part.rows.size() && i < rows.size(); ++i) {
    if (rows[i] < 0) continue;
    ReportRow& to = whole.rows.at(static_cast<std::size_t>(rows[i]));
    const ReportRow& from = part.rows[i];
    const auto whole_row = [&](int row) { return row < 0 ? -1 : rows.at(static_cast<std::size_t>(row)); };
    if (rows[i] != counted && to.lowering.empty()) {
      to.op = from.op;
      to.recognised = from.recognised;
      to.recognised.into = whole_row(from.recognised.into);
      for (int& r : to.recognised.from) r = whole_row(r);
      std::erase(to.recognised.from, -1);
      to.path = from.path;
      to.provider = from.provider;
      to.lowering = from.lowering;
      to.refusals = from.refusals;
      to.flops = from.flops;
      to.bytes = from.bytes;
    } else if (from.path == Path::unresolved) {
      to.path = from.path;
      to.refusals.insert(to.refusals.end(), from.refusals.begin(), from.refusals.end());
    }
    to.steps.insert(to.steps.end(), from.steps.begin(), from.steps.end());
    for (const std::string& n : from.notes) whole.add_note(rows[i], n);
  }
  whole.donations.insert(whole.donations.end(), part.donations.begin(), part.donations.end());
  whole.steps.insert(whole.steps.end(), part.steps.begin(), part.steps.end());
  whole.arena_bytes += part.arena_bytes;
}

/// What is kept from the caller for as long as a part has not taken it: what donated arguments the part left whole goes
/// back.
class Lent {
 public:
  Lent(Arguments arguments, const std::vector<SizePoint::Source>& sources, HostValues of_head,
       const std::vector<std::size_t>& donated)
      : arguments_(arguments), sources_(sources), donated_(donated) {
    for (const SizePoint::Source& s : sources)
      values.push_back(s.of_head ? std::move(of_head[s.index]) : arguments.values()[s.index]);
    for (std::size_t i : donated_)
      if (!sources[i].of_head) arguments.to_take(sources[i].index) = HostToken{};
  }
  ~Lent() {
    for (std::size_t i : donated_)
      if (!sources_[i].of_head) arguments_.to_take(sources_[i].index) = std::move(values[i]);
  }
  Lent(const Lent&) = delete;
  Lent& operator=(const Lent&) = delete;

  HostValues values;

 private:
  const Arguments arguments_;
  const std::vector<SizePoint::Source>& sources_;
  const std::vector<std::size_t>& donated_;
};

class SplitProgram final : public CompiledGraph {
 public:
  SplitProgram(std::shared_ptr<Device> device, const Graph& hir, const Catalog& catalog, const CompileOptions& options,
               const RowNames& names)
      : device_(std::move(device)),
        catalog_(catalog),
        options_(options),
        of_head_(options),
        of_tail_(options),
        inputs_(hir) {
    Graph rows = hir;
    report_ = compile::open_rows(rows, device_->target(), options);
    names.put(report_);
    point_.emplace(compile::first_size_point(rows, catalog.operators, options));
    donate();
    try {
      head_ = one_program(device_, point_->head, catalog, of_head_, names_of(point_->head_rows), Results::padded);
    } catch (const CompileError& e) { refuse(e, point_->head_rows); }
    merge(report_, head_->report(), point_->head_rows, point_->row);
    report_.steps.push_back({point_->symbol, "size point", "host"});
    try {
      DispatchReport tail = planned();
      for (StepRow& s : tail.steps) s.flops.reset(), s.bytes.reset();
      for (ReportRow& r : tail.rows) r.flops = r.bytes = 0;
      merge(report_, tail, point_->tail_rows);
    } catch (const CompileError& e) { refuse(e, point_->tail_rows); }
    // What holds for the planned size alone is not said: neither what the tail costs, nor its memory.
    report_.arena_bytes = head_->report().arena_bytes;
    if (point_->row >= 0) {
      std::vector<std::string>& notes = report_.rows[static_cast<std::size_t>(point_->row)].notes;
      std::erase_if(notes, [&](const std::string& n) { return n.starts_with("size " + point_->symbol + ": at most"); });
    }
    report_.add_note(point_->row, "size point: host reads " + point_->symbol);
    keep_donations_of_arguments();
  }

  HostValues run(Arguments arguments, HostValues reuse) override {
    inputs_.check(arguments.values());
    ++calls_;
    HostValues of_head = [&] {
      Lent in(arguments, point_->head_inputs, {}, of_head_.donated);
      return head_->run(Arguments::given(in.values), {});
    }();
    const std::int64_t count = std::get<HostTensor>(of_head.back()).get_i64(0);
    const std::shared_ptr<CompiledGraph> tail = tail_for(count);
    Lent in(arguments, point_->tail_inputs, std::move(of_head), of_tail_.donated);
    return tail->run(Arguments::given(in.values), std::move(reuse));
  }

  const DispatchReport& report() const override { return report_; }
  const Graph& lir() const override { return head_->lir(); }
  std::int64_t bytes_per_call() const override {
    const std::shared_ptr<const CompiledGraph> tail = tails_.latest();
    return head_->bytes_per_call() + (tail ? tail->bytes_per_call() : 0);
  }
  ExecutableStatistics statistics() const override {
    ExecutableStatistics s = head_->statistics();
    const ExecutableStatistics tails = tails_.statistics();
    s.calls = calls_;
    s.programs += tails.programs;
    std::set<const void*> codes;
    add_codes(codes);
    s.codes = static_cast<std::int64_t>(codes.size());
    s.peak_bytes += tails.peak_bytes;
    s.in_place_bytes += tails.in_place_bytes;
    s.copied_bytes += tails.copied_bytes;
    return s;
  }
  void add_codes(std::set<const void*>& codes) const override {
    head_->add_codes(codes);
    tails_.add_codes(codes);
  }
  void trim() override {
    head_->trim();
    tails_.trim();
  }

 private:
  /// Sizes that the report is made for; the last is tried where a constraint needs more than the one before.
  static constexpr std::int64_t planned_sizes[] = {1 << 16, 1 << 24};
  /// Rounded sizes are eight an octave, so that these are eight octaves; exact ones may be as many as there are counts.
  static constexpr std::size_t kept_tails = 64;

  [[noreturn]] void refuse(const CompileError& e, const std::vector<int>& rows) {
    for (std::size_t i = 0; i < report_.rows.size(); ++i)
      if (report_.rows[i].lowering.empty()) {
        report_.rows[i].path = Path::native;  // Not unresolved, which is all that a report can say of it.
        report_.add_note(static_cast<int>(i), "not looked at: another part of the program is refused");
      }
    for (const int r : rows)
      if (r >= 0) {
        report_.rows[static_cast<std::size_t>(r)].lowering.clear();
        report_.rows[static_cast<std::size_t>(r)].notes.clear();
      }
    merge(report_, e.report(), rows);
    throw CompileError(std::move(report_));
  }

  /// An argument is given away by the tail where that takes it, else by the head; and what the head hands over is the
  /// tail's own.
  void donate() {
    const auto donated = [&](const SizePoint::Source& s) {
      return !s.of_head &&
             std::find(options_.donated.begin(), options_.donated.end(), s.index) != options_.donated.end();
    };
    std::set<std::size_t> by_tail;
    of_head_.donated.clear(), of_tail_.donated.clear();
    for (std::size_t i = 0; i < point_->tail_inputs.size(); ++i) {
      const SizePoint::Source& s = point_->tail_inputs[i];
      const Type& t = point_->tail.type(point_->tail.inputs()[i]);
      const bool has_memory = std::holds_alternative<TensorType>(t) || std::holds_alternative<SparseType>(t);
      if (!donated(s) && !(s.of_head && has_memory)) continue;
      of_tail_.donated.push_back(i);
      if (!s.of_head) by_tail.insert(s.index);
    }
    for (std::size_t i = 0; i < point_->head_inputs.size(); ++i)
      if (const SizePoint::Source& s = point_->head_inputs[i]; donated(s) && !by_tail.contains(s.index))
        of_head_.donated.push_back(i);
  }

  /// What the parts hand to each other is no input of the caller's.
  void keep_donations_of_arguments() {
    std::erase_if(report_.donations, [&](const DonationRow& d) {
      return std::none_of(options_.donated.begin(), options_.donated.end(), [&](std::size_t i) {
        const std::string& name = inputs_.names[i];
        return d.input == name || d.input.starts_with(name + ".");  // An array of a sparse matrix.
      });
    });
  }

  RowNames names_of(const std::vector<int>& rows) const {
    RowNames names;
    for (const int r : rows) {
      names.values.push_back(r < 0 ? "-" : report_.rows[static_cast<std::size_t>(r)].value);
      names.regions.push_back(r < 0 ? "" : report_.rows[static_cast<std::size_t>(r)].region);
    }
    return names;
  }

  /// What the tail becomes, before any count is known; nothing is generated for it.
  DispatchReport planned() const {
    return planned_for_one_of(planned_sizes, [&](std::int64_t size) {
      const Graph tail = sized(size);
      if (compile::has_size_point(tail, device_->target(), options_))
        return SplitProgram(device_, tail, catalog_, of_tail_, names_of(point_->tail_rows)).report();
      return compile_program(tail, catalog_.operators, device_->target(), records_of(*device_, catalog_), of_tail_)
          .report;
    });
  }

  Graph sized(std::int64_t size) const {
    return compile::reads_exactly(options_) ? specialise(point_->tail, catalog_.operators, {{point_->symbol, size}})
                                            : compile::bounded_tail(*point_, size);
  }

  std::shared_ptr<CompiledGraph> tail_for(std::int64_t count) {
    const std::int64_t size = compile::reads_exactly(options_) ? count : compile::rounded_capacity(count);
    return tails_.get({{point_->symbol, size}}, [&]() -> std::shared_ptr<CompiledGraph> {
      const auto operators_stay = catalog_.stay();
      return compiled_graph(device_, sized(size), catalog_, of_tail_, names_of(point_->tail_rows));
    });
  }

  std::shared_ptr<Device> device_;
  const Catalog& catalog_;
  const CompileOptions options_;
  CompileOptions of_head_, of_tail_;  // The same but for what each may take.
  const Inputs inputs_;
  DispatchReport report_;
  std::optional<SizePoint> point_;
  std::unique_ptr<CompiledGraph> head_;
  std::atomic<std::int64_t> calls_{0};
  KeptPrograms tails_{kept_tails};
};

}  // namespace

std::unique_ptr<CompiledGraph> split_program(std::shared_ptr<Device> device, const Graph& hir, const Catalog& catalog,
                                             const CompileOptions& options, const RowNames& names) {
  return std::make_unique<SplitProgram>(std::move(device), hir, catalog, options, names);
}

}  // namespace rlx::runtime
