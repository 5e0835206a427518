#include <rlx/formats/safetensors.hpp>

#include <cstring>
#include <sstream>
#include <vector>

#include "support.hpp"

namespace rlx::formats::testing {

using Shape = std::vector<std::int64_t>;

namespace {

std::string file_of(std::string_view header, std::size_t data_bytes) {
  const std::uint64_t length = header.size();
  std::string bytes(sizeof length, '\0');
  std::memcpy(bytes.data(), &length, sizeof length);
  return bytes.append(header) + std::string(data_bytes, '\1');
}

// The table beside the shared files: what each must do, and what the reference reader sees in it.
TEST(Safetensors, SharedCases) {
  RLX_NEED_SHARED("reference/nn/badfiles/safetensors_cases.tsv");
  const std::string folder = shared_folder() + "/reference/nn/badfiles";
  std::istringstream table(get(folder + "/safetensors_cases.tsv"));
  int accepted = 0, rejected = 0;
  std::string line;
  std::getline(table, line);  // titles
  while (std::getline(table, line)) {
    std::vector<std::string> cells;
    std::istringstream row(line);
    for (std::string cell; std::getline(row, cell, '\t');) cells.push_back(cell);
    ASSERT_GE(cells.size(), 5u);
    const std::string path = folder + "/safetensors/" + cells[0];
    if (cells[2] == "reject") {
      expect_error<FormatError>([&] { load_safetensors(path); }, cells[0], cells[0]);
      ++rejected;
      continue;
    }
    const SafeTensors content = load_safetensors(path);  // what may be either is accepted here
    std::size_t described = 0;
    std::istringstream tensors(cells[4]);  // 'name':TYPE:2x3:hash ...
    for (std::string one; tensors >> one; ++described) {
      const std::size_t end = one.find("':");
      const std::string name = one.substr(1, end - 1);
      ASSERT_TRUE(content.tensors.contains(name)) << path << " " << name;
      std::string dims = one.substr(one.find(':', end + 2) + 1);
      dims.resize(dims.find(':'));
      std::string ours;
      for (const std::int64_t d : content.tensors.at(name).shape())
        ours += (ours.empty() ? "" : "x") + std::to_string(d);
      EXPECT_EQ(ours.empty() ? "scalar" : ours, dims) << path << " " << name;
    }
    EXPECT_EQ(content.tensors.size(), described) << path;
    ++accepted;
  }
  EXPECT_EQ(accepted, 10);
  EXPECT_GE(rejected, 14);
}

TEST(Safetensors, SharedValues) {
  RLX_NEED_SHARED("reference/nn/badfiles/safetensors");
  const std::string folder = shared_folder() + "/reference/nn/badfiles/safetensors/";
  const SafeTensors meta = load_safetensors(folder + "ok_metadata.safetensors");
  EXPECT_EQ(meta.metadata.at("format"), "pt");
  EXPECT_EQ(meta.metadata.at("note"), "\xc3\xa9\xe4\xb8\xad\xf0\x9f\x98\x80 \" \\ \n");
  EXPECT_EQ(meta.tensors.at("a").get_f64(1), -2.25);
  const SafeTensors odd = load_safetensors(folder + "ok_unaligned_data.safetensors");
  EXPECT_EQ(reinterpret_cast<std::uintptr_t>(odd.tensors.at("abc").data()) % 4, 0u);
  EXPECT_EQ(odd.tensors.at("abc").get_f64(3), 3.0);
  const std::string bits = get(folder + "ok_nan_inf_subnormal.safetensors");
  const SafeTensors nan = load_safetensors(folder + "ok_nan_inf_subnormal.safetensors");
  EXPECT_EQ(std::memcmp(nan.tensors.at("a").data(), bits.data() + bits.size() - 32, 32), 0);
}

TEST(Safetensors, Refusals) {
  const std::string a = R"({"a":{"dtype":"F32","shape":[1],"data_offsets":[0,4]}})";
  const auto tensor = [](std::string_view members) { return "{\"a\":{" + std::string(members) + "}}"; };
  const struct {
    std::string bytes;
    const char* says;
  } bad[] = {
      {"1234567", "ends inside the 8 bytes"},
      {file_of(" " + a, 4), "expected the header to begin with '{'"},
      {file_of(std::string("{}\0x", 4), 0), "zero byte"},
      {file_of(a, 5), "1 byte beyond the last tensor"},
      {file_of(a, 3), "but the file has 3 bytes of data"},
      {file_of("{}", 1), "1 byte beyond the last tensor"},
      {file_of("[]", 0), "begin with '{'"},
      {file_of(R"({"a":1})", 0), "member 'a' of the header must be an object, but is a number"},
      {file_of(R"({"a":[]})", 0), "must be an object, but is an array"},
      {file_of(R"({"__metadata__":{"k":1}})", 0), "member 'k' of __metadata__ must be a string, but is a number"},
      {file_of(R"({"__metadata__":{"k":{}}})", 0), "must be a string, but is an object"},
      {file_of(R"({"__metadata__":{"k":"1","k":"2"}})", 0), "the name 'k' is given twice"},
      {file_of(R"({"__metadata__":null})", 0), "must be an object, but is null"},
      {file_of(tensor(R"("dtype":"F32","shape":[1])"), 4), "has no data_offsets"},
      {file_of(tensor(R"("shape":[1],"data_offsets":[0,4])"), 4), "has no dtype"},
      {file_of(tensor(R"("dtype":"F32","data_offsets":[0,4])"), 4), "has no shape"},
      {file_of(tensor(R"("dtype":"F32","dtype":"F32","shape":[1],"data_offsets":[0,4])"), 4), "'dtype' is given twice"},
      {file_of(tensor(R"("dtype":1,"shape":[1],"data_offsets":[0,4])"), 4),
       "member 'dtype' of tensor 'a' cannot be a number"},
      {file_of(tensor(R"("dtype":"f32","shape":[1],"data_offsets":[0,4])"), 4), "unknown dtype 'f32'"},
      {file_of(tensor(R"("dtype":"F32","shape":1,"data_offsets":[0,4])"), 4),
       "member 'shape' of tensor 'a' cannot be a number"},
      {file_of(tensor(R"("dtype":"F32","shape":[-1],"data_offsets":[0,4])"), 4), "holds a negative number"},
      {file_of(tensor(R"("dtype":"F32","shape":["1"],"data_offsets":[0,4])"), 4), "holds a string"},
      {file_of(tensor(R"("dtype":"F32","shape":[[1]],"data_offsets":[0,4])"), 4), "holds an array"},
      {file_of(tensor(R"("dtype":"F32","shape":[18446744073709551616],"data_offsets":[0,4])"), 4), "no 64-bit integer"},
      {file_of(tensor(R"("dtype":"F32","shape":[9223372036854775808],"data_offsets":[0,4])"), 4), "exceeds 63 bits"},
      {file_of(tensor(R"("dtype":"F32","shape":[4294967296,4294967296],"data_offsets":[0,4])"), 4), "exceeds 63 bits"},
      {file_of(tensor(R"("dtype":"F32","shape":[1],"data_offsets":[0])"), 4), "must have two numbers"},
      {file_of(tensor(R"("dtype":"F32","shape":[1],"data_offsets":[0,4,8])"), 4), "must have two numbers"},
      {file_of(tensor(R"("dtype":"F32","shape":[1],"data_offsets":"x")"), 4), "cannot be a string"},
      {file_of(tensor(R"("dtype":"F32","shape":[2],"data_offsets":[0,4])"), 4), "f32[2] takes 8 bytes, but"},
      {file_of(tensor(R"("dtype":"BOOL","shape":[4],"data_offsets":[0,4])"), 3) + '\2', "a bool must be 0 or 1"},
      {file_of(a + "{", 4), "the header is not JSON"},
      {file_of("{\"a", 0), "the header is not JSON"},
      {file_of(std::string(100000, '{'), 0), "the header is not JSON"},
      {file_of("{\"a\":{\"x\":" + std::string(100000, '['), 0), "the header is not JSON"},
      {file_of(R"({"\ud800":{}})", 0), "the header is not JSON"},
  };
  for (const auto& c : bad)
    expect_error<FormatError>([&] { parse_safetensors(c.bytes, "m.safetensors"); }, c.says, c.bytes.substr(0, 100));
  try {
    parse_safetensors(file_of(R"({"a":{"dtype":"F9"}})", 0), "m");
  } catch (const FormatError& e) {
    EXPECT_EQ(e.offset(), 8u + 18);  // just behind the word
  }
  const TempFolder temp;
  expect_error<FormatError>([&] { load_safetensors(temp / "absent.safetensors"); }, "cannot open");
  expect_error<FormatError>([&] { load_safetensors(temp.path()); }, "is a directory");
}

TEST(Safetensors, EmptyAndUnknownMembers) {
  EXPECT_TRUE(parse_safetensors(file_of("{}", 0)).tensors.empty());
  const SafeTensors t = parse_safetensors(file_of(
      R"({"a":{"note":{"shape":[1.5,{"x":null}]},"dtype":"U8","more":[[],{"dtype":"?"}],"shape":[2],"data_offsets":[0,2]}})",
      2));
  EXPECT_EQ(t.tensors.at("a").shape(), (Shape{2}));
  EXPECT_EQ(t.tensors.at("a").get_i64(1), 1);
}

TEST(Safetensors, RoundTripWithoutCopies) {
  const TempFolder temp;
  const std::string path = temp / "m.safetensors";
  SafeTensors content;
  content.metadata = {{"format", "rlx"}, {"text", "a\"\n\xc3\xa9"}};
  for (const DType t :
       {DType::f64, DType::f32, DType::f16, DType::bf16, DType::c64, DType::i64, DType::i32, DType::i16, DType::i8,
        DType::u64, DType::u32, DType::u16, DType::u8, DType::boolean, DType::f8e4m3fn, DType::f8e5m2}) {
    HostTensor x(t, {3});
    for (std::int64_t i = 0; i < 3; ++i) x.set_i64(i, i);
    content.tensors.emplace("t." + std::string(name(t)), x);
    content.tensors.emplace("scalar." + std::string(name(t)), HostTensor(t, {}));
    content.tensors.emplace("empty." + std::string(name(t)), HostTensor(t, {0, 4}));
  }
  write_safetensors(path, content);
  SafeTensors back = load_safetensors(path);
  EXPECT_EQ(back.metadata, content.metadata);
  ASSERT_EQ(back.tensors.size(), content.tensors.size());
  for (const auto& [name, tensor] : content.tensors) EXPECT_TRUE(back.tensors.at(name).identical(tensor)) << name;
  // A view outlives the map that it came from, and replacing the file does not touch it.
  const HostTensor kept = back.tensors.at("t.f64");
  back = {};
  write_safetensors(path, {});
  EXPECT_EQ(kept.get_f64(2), 2);
  EXPECT_TRUE(load_safetensors(path).tensors.empty());
}

TEST(Safetensors, RefusesToWriteAndKeepsTheFile) {
  const TempFolder temp;
  const std::string path = temp / "m.safetensors";
  put(path, "old");
  const auto write = [&](const char* name, DType t) {
    write_safetensors(path, {.tensors = {{name, HostTensor(t, {2})}}});
  };
  for (const DType t : {DType::c128, DType::i4, DType::f8e4m3fnuz, DType::f8e5m2fnuz})
    expect_error<ArgumentError>([&] { write("a", t); }, "safetensors has no type");
  expect_error<ArgumentError>([&] { write("__metadata__", DType::f32); }, "__metadata__");
  expect_error<ArgumentError>([&] { write("\xff", DType::f32); }, "not UTF-8");
  EXPECT_EQ(get(path), "old");
  EXPECT_EQ(temp.files(), 1u);
}

}  // namespace

}  // namespace rlx::formats::testing
