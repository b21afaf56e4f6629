// SPDX-License-Identifier: Apache-2.0

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cstdlib>
#include <filesystem>
#include <random>
#include <string>
#include <vector>

#include "framework/cli/program_fixture.h"
#include "framework/core/numbers.h"
#include "framework/graph/model_text.h"
#include "framework/testing/case/corpus_files.h"
#include "framework/testing/support/drawn_fixture.h"

namespace assay::trace {
namespace {

using testing::AllOf;
using testing::HasSubstr;

/// A network whose nodes are named by what they compute.
struct Network {
  const char* name;
  std::string text;
};

/// Copies of a layer of a network, each behind the one before: in `layer` @ is
/// the number of the copy, nothing for the first, and % that of the next one.
/// In `tail` @ is the last number.
std::string Stacked(const std::string& head, const std::string& layer,
                    const std::string& tail, int layers) {
  const auto numbered = [](const std::string& text, int number) {
    const auto word = [](int n) { return n == 0 ? "" : StrCat("_", n); };
    std::string done;
    for (const char letter : text) {
      if (letter == '@' || letter == '%') {
        done += word(number + (letter == '%' ? 1 : 0));
      } else {
        done += letter;
      }
    }
    return done;
  };
  std::string text = head;
  for (int i = 0; i < layers; ++i) text += numbered(layer, i);
  return text + numbered(tail, layers - 1);
}

Network Convolutions(int layers) {
  return {"convolutions",
          Stacked("g (float[1,3,8,8] x, float[4,3,3,3] w1, float[4] s, "
                  "float[4] b, float[4] m, float[4] v, float[4,4,3,3] w2, "
                  "float[4,5] w3, float[5] b3) => (float[1,5] y) {"
                  " c1 = Conv <pads = [1, 1, 1, 1]> (x, w1)"
                  " n = BatchNormalization (c1, s, b, m, v)"
                  " r = Relu (n)",
                  " c2@ = Conv <pads = [1, 1, 1, 1]> (r@, w2)"
                  " a@ = Add (c2@, r@)"
                  " i@ = InstanceNormalization (a@, s, b)"
                  " g@ = Sigmoid (i@)"
                  " r% = Mul (i@, g@)",
                  " k = Constant <value_floats = [1.0, 1.0, 2.0, 2.0]> ()"
                  " u = Resize <mode = \"nearest\", nearest_mode = \"floor\", "
                  "coordinate_transformation_mode = \"asymmetric\"> (r%, , k)"
                  " p = MaxPool <kernel_shape = [2, 2], strides = [2, 2]> (u)"
                  " q = GlobalAveragePool (p)"
                  " f = Flatten (q)"
                  " z = Gemm (f, w3, b3)"
                  " y = Softmax (z) }",
                  layers)};
}

Network Attention(int layers) {
  return {"attention",
          Stacked("g (float[2,6,8] x, float[8] s, float[8] b, float[8,8] wq, "
                  "float[8,8] wk, float[8,8] wv, float[8,16] w1, "
                  "float[16,8] w2) => (float[2,8] y) {",
                  " n@ = LayerNormalization (x@, s, b)"
                  " q@ = MatMul (n@, wq)"
                  " k@ = MatMul (n@, wk)"
                  " v@ = MatMul (n@, wv)"
                  " t@ = Transpose <perm = [0, 2, 1]> (k@)"
                  " l@ = MatMul (q@, t@)"
                  " p@ = Softmax (l@)"
                  " o@ = MatMul (p@, v@)"
                  " h@ = Add (o@, x@)"
                  " g@ = LayerNormalization (h@, s, b)"
                  " d@ = MatMul (g@, w1)"
                  " e@ = Gelu (d@)"
                  " f@ = MatMul (e@, w2)"
                  " x% = Add (f@, h@)",
                  " i = Constant <value_ints = [1]> ()"
                  " y = ReduceMean <keepdims = 0> (x%, i) }",
                  layers)};
}

Network Gates(int layers) {
  return {"gates", Stacked("g (float[4,6] x, float[1,12,6] w, float[1,12,3] u) "
                           "=> (float[4,3] y, int64[4] i) {"
                           " j = Constant <value_ints = [0]> ()",
                           " a@, b@ = Split <num_outputs = 2, axis = 1> (x@)"
                           " s@ = Sigmoid (a@)"
                           " t@ = Tanh (b@)"
                           " m@ = Mul (s@, t@)"
                           " e@ = Exp (m@)"
                           " l@ = Log (e@)"
                           " q@ = Sqrt (e@)"
                           " x% = Concat <axis = 1> (l@, q@)"
                           " d@ = Unsqueeze (x%, j)"
                           " h@ = LSTM <hidden_size = 3> (d@, w, u)"
                           " k@ = Squeeze (h@)"
                           " v@ = Div (m@, q@)",
                           " i = ArgMax <axis = 1, keepdims = 0> (x%)"
                           " y = Add (v@, k@) }",
                           layers)};
}

/// The nodes at which a fault may be planted: those that compute numbers.
std::vector<std::string> NumericNodes(const Network& network) {
  const auto model = graph::ModelOfText(network.text);
  const Graph& graph = model->graph();
  std::vector<std::string> names;
  for (const Node& node : graph.nodes) {
    if (node.op_type == "Constant" || node.op_type == "ArgMax") continue;
    names.push_back(graph[node.outputs[0]].name);
  }
  return names;
}

class TraceTest : public cli::ProgramTest {
 protected:
  /// A folder of a network and inputs; vectors are positive.
  void Write(const std::string& name, const std::string& text) const {
    const auto model = graph::ModelOfText(text);
    std::mt19937_64 engine(7);
    std::vector<Value> inputs;
    for (const ValueId id : model->graph().inputs) {
      const Shape shape = *model->graph()[id].type.StaticShape();
      std::vector<double> numbers;
      for (int64_t i = 0; i < *shape.NumElements(); ++i) {
        const double share = Uniform(engine);
        numbers.push_back(shape.rank() == 1 ? 0.25 + share : 2 * share - 1);
      }
      inputs.emplace_back(
          draw::TensorOf(DType::kFloat32, shape, numbers).value());
    }
    const Status written = cases::WriteCaseFiles(
        folder_ / name, {model, {{std::move(inputs), {}}}});
    ASSERT_TRUE(written.ok()) << written.ToString();
  }

  /// The trace as JSON; the exit code has to be the wanted one.
  nlohmann::json Trace(const std::string& name, const std::string& backend,
                       int exit_code, const std::string& more = "") const {
    const cli::Ran ran = Assay("trace --json --model ", name, " --backend '",
                               backend, "' ", more, " >trace.json");
    EXPECT_THAT(ran, cli::Ended(exit_code)) << name << " on " << backend;
    return JsonIn("trace.json");
  }
};

/// A network has this many faults, one at a time; at night 30.
size_t NodesToTry() {
  const char* const nodes = std::getenv("ASSAY_TRACE_NODES");
  return nodes == nullptr ? 2 : std::strtoul(nodes, nullptr, 10);
}

// Kills: errors that a node inherits and is charged with, and limits that a
// tolerance widens.
TEST_F(TraceTest, NamesTheNodeAtWhichAFaultWasPlanted) {
  size_t planted = 0;
  size_t named = 0;
  const bool is_night = NodesToTry() > 2;
  for (const Network& network :
       {Convolutions(is_night ? 5 : 1), Attention(is_night ? 3 : 1),
        Gates(is_night ? 3 : 1)}) {
    Write(network.name, network.text);
    const auto right = Trace(network.name, "faulty", 0);
    EXPECT_EQ(right["n_wrong"], 0) << right.dump(1);
    EXPECT_EQ(right["n_undecided"], 0) << right.dump(1);
    std::vector<std::string> nodes = NumericNodes(network);
    ASSERT_GE(nodes.size(), NodesToTry()) << network.name;
    core::Numbers numbers(core::StableHash(network.name));
    for (size_t i = 0; i < NodesToTry(); ++i) {
      const auto at = nodes.begin() +
                      static_cast<std::ptrdiff_t>(numbers.Below(nodes.size()));
      const auto wrong = Trace(network.name, "faulty+mutant=scaled:" + *at, 1);
      ++planted;
      const bool is_named =
          wrong["n_wrong"] == 1 && wrong["first_wrong"]["name"] == *at;
      named += is_named ? 1 : 0;
      if (!is_named) std::cout << *at << "\n" << wrong.dump(1) << "\n";
      nodes.erase(at);
    }
  }
  std::cout << named << " of " << planted << " planted faults are named\n";
  EXPECT_GE(named, 0.95 * planted);
}

TEST_F(TraceTest, LeavesTheWrongNodeAsACaseOfItsOwn) {
  const Network network = Convolutions(1);
  Write(network.name, network.text);
  const auto json =
      Trace(network.name, "faulty+mutant=scaled:c2", 1, "--out out");
  const auto& first = json["first_wrong"];
  EXPECT_EQ(first["op"], "Conv");
  EXPECT_EQ(first["depth"], 4);
  EXPECT_GT(first["own"], 30);
  EXPECT_LT(first["inherited"], 30);
  EXPECT_EQ(json["nodes"][4]["name"], "a");
  EXPECT_GT(json["nodes"][4]["inherited"], 1) << "what follows inherits it";
  EXPECT_THAT(Text("out/trace.csv"),
              AllOf(HasSubstr("index,name,op,depth,verdict,own,inherited,"),
                    HasSubstr("\n3,c2,Conv,4,wrong,")));
  const std::string id = JsonIn("out/capsule/case.json").at("test_id");
  EXPECT_EQ(id, StrCat("redrawn/Conv/", network.name, "-c2"));
  Assay(
      "run --corpus ./out/capsule --no-report --out wrong "
      "--backend faulty+mutant=scaled:c2");
  EXPECT_EQ(Outcomes("wrong")[id], "fail");
  Assay("run --corpus ./out/capsule --no-report --out right");
  EXPECT_EQ(Outcomes("right")[id], "pass");
}

// Kills: a value that a backend does not show beside others, taken for one
// that nobody can know.
TEST_F(TraceTest, CutsTheNetworkWhereABackendShowsOneOutputAlone) {
  const Network network = Gates(1);
  Write(network.name, network.text);
  // The module says that it is the reference.
  std::filesystem::create_symlink(ASSAY_FEW_OPERATORS,
                                  folder_ / "reference.so");
  const auto json = Trace(network.name, "./reference.so+outputs=1", 0);
  EXPECT_EQ(json["n_undecided"], 0) << json.dump(1);
  EXPECT_THAT(json["notes"].dump(), HasSubstr("networks that were cut"));
}

// Kills: a node that is declined, for which all before it is not judged either.
TEST_F(TraceTest, SaysWhichNodeHidesThoseBehindIt) {
  Write("declined",
        "g (float[2,3] x) => (float[2,3] y, float[2,3] z) {"
        " a = Sigmoid (x) e = Exp (a) n = Neg (e) y = Neg (n)"
        " r = Relu (x) l = Log (r) z = Abs (r) }");
  std::filesystem::create_symlink(ASSAY_FEW_OPERATORS,
                                  folder_ / "reference.so");
  const auto json = Trace("declined", "./reference.so", 0);
  std::string verdicts;
  for (const auto& node : json["nodes"]) {
    verdicts += StrCat(node["name"].get<std::string>(), " ",
                       node["verdict"].get<std::string>(), ", ");
  }
  EXPECT_EQ(verdicts,
            "a right, e undecided, n undecided, y undecided, r right, "
            "l undecided, z right, ");
  const std::string why = json["nodes"][3]["message"].dump();
  EXPECT_THAT(why, AllOf(HasSubstr("it is computed of 'e'"), HasSubstr("Exp")));
}

TEST_F(TraceTest, SaysOfWhichNodesNothingCanBeSaid) {
  Write("drawn",
        "g (float[2,3] x) => (float[2,3] y) {"
        " a = Exp (x) r = RandomNormalLike (a) y = Add (a, r) }");
  const auto json = Trace("drawn", "faulty+mutant=scaled:y", 1);
  EXPECT_EQ(json["n_undecided"], 1) << json.dump(1);
  EXPECT_EQ(json["nodes"][1]["verdict"], "undecided");
  EXPECT_THAT(json["nodes"][1]["message"].dump(), HasSubstr("random"));
  EXPECT_EQ(json["first_wrong"]["name"], "y") << "behind it";
  Write("noise",
        "g (float[2,3] x) => (float[2,3] y) { y = RandomNormalLike (x) }");
  EXPECT_EQ(Trace("noise", "faulty", 1)["n_undecided"], 1) << "of one";
  EXPECT_THAT(Assay("trace --model drawn --backend few"), cli::Ended(2, "few"));
}

// Kills: a model that run takes and trace does not.
TEST_F(TraceTest, TakesAModelAndInputsAsRunDoes) {
  const Network network = Attention(1);
  Write(network.name, network.text);
  const std::string file = StrCat(network.name, "/model.onnx");
  EXPECT_EQ(Trace(file, "faulty+mutant=scaled:q", 1)["first_wrong"]["name"],
            "q")
      << "inputs are drawn";
  const auto given =
      Trace(file, "faulty", 0, "--inputs " + std::string(network.name));
  EXPECT_EQ(given["test_id"], "model/own/model");
  ExpectRefused(StrCat("trace --backend reference --model ", file),
                {{" --dim n=2", "found --dim n=2, wanted one of"},
                 {" --inputs none", "bad case: none: does not exist"}});
}

TEST_F(TraceTest, RefusesWhatIsNoNetwork) {
  Write("one", "g (float[2] x) => (float[2] y) { y = Abs (x) }");
  ExpectRefused("trace --backend reference ",
                {{"", "wanted TEST_ID or --model"},
                 {"node/Abs/test_ab", "found no case node/Abs/test_ab"},
                 {"--model one --data-set 3", "wanted 0 to 0"},
                 {"--model one node/Abs/test_abs", "excludes"},
                 {"contract/load/missing_operator", ""}});
}

}  // namespace
}  // namespace assay::trace
