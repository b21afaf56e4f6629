// SPDX-License-Identifier: Apache-2.0

#include "framework/testing/host/remote_backend.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <cstring>
#include <functional>
#include <string>
#include <thread>
#include <vector>

#include "framework/core/tensor.h"
#include "framework/graph/edit/model_edit.h"
#include "framework/graph/model_text.h"
#include "framework/testing/host/hosted_backend.h"
#include "framework/testing/host/mirror.h"
#include "framework/testing/host/runs.h"
#include "framework/testing/host/timed.h"
#include "framework/testing/host/wire/arena.h"
#include "framework/testing/host/wire/protocol.h"
#include "framework/testing/host/wire/wire.h"
#include "framework/testing/support/backends_fixture.h"
#include "framework/testing/support/statuses_fixture.h"
#include "framework/testing/support/tensors_fixture.h"

namespace assay::host {
namespace {

/// The models that a backend in a host gets when these are loaded.
std::vector<std::shared_ptr<const Model>> Crossed(
    const std::vector<std::shared_ptr<const Model>>& models) {
  std::vector<std::shared_ptr<const Model>> crossed;
  StubBackend backend([&](auto model, const LoadOptions&) {
    crossed.push_back(std::move(model));
    return Unsupported(Reason::kOperator, "kept");
  });
  HostedBackend hosted(backend);
  for (const auto& model : models) {
    EXPECT_EQ(hosted.backend().Load(model, {}).status().message(), "kept");
  }
  return crossed;
}

bool SameBytes(const Model& a, const Model& b) {
  return std::ranges::equal(a.bytes(), b.bytes());
}

/// A model with as many floats fixed.
std::shared_ptr<const Model> Fixed(int64_t count) {
  const std::string extents = StrCat("float[", count, "] ");
  const auto base =
      graph::ModelOfText(StrCat("g (", extents, "x, ", extents, "w) => (",
                                extents, "y) { y = Add(x, w) }"));
  const std::vector<float> w(static_cast<size_t>(count), 3);
  return *edit::WithInitializers(*base,
                                 {{"w", *Tensor::Of<float>({count}, w)}});
}

/// Says what it is asked with.
class Told : public StubBackend {
 public:
  Told() : StubBackend(Unsupported(Reason::kOperator, "loads nothing")) {}
  Result<Probe> InspectAs(const Settings& settings) override {
    if (settings.empty()) return Inspect();
    if (settings.contains("none")) return Unavailable("there is none");
    return Probe{"2", "gpu", {settings.begin()->first, "b"}};
  }
};

// Kills: settings that do not reach the backend; a list that is not carried.
TEST(RemoteBackendTest, ItIsInspectedAsItIsSet) {
  Told backend;
  HostedBackend hosted(backend);
  Backend& remote = hosted.backend();
  EXPECT_EQ(remote.Inspect()->version, "1");
  EXPECT_TRUE(remote.Inspect()->isa.empty());
  const auto probe = Got(remote.InspectAs({{"a", "1"}}));
  EXPECT_EQ(probe.version, "2");
  EXPECT_EQ(probe.device, "gpu");
  EXPECT_EQ(probe.isa, (std::vector<std::string>{"a", "b"}));
  EXPECT_EQ(remote.InspectAs({{"none", ""}}).status().message(),
            "there is none");
}

TEST(RemoteBackendTest, AModelComesAsItIs) {
  // Within the bytes, and beside them.
  for (const int64_t count : {3, 300'000}) {
    const auto model = Fixed(count);
    const auto crossed = Crossed({model});
    ASSERT_EQ(crossed.size(), 1U);
    const Model& got = *crossed[0];
    EXPECT_EQ(got.checked(), model->checked());
    const Value* const w =
        got.graph().FindInitializer(got.graph().FindValue("w"));
    ASSERT_NE(w, nullptr);
    EXPECT_EQ(w->tensor()->num_elements(), count);
    EXPECT_EQ(w->tensor()->elements<float>().back(), 3);
    EXPECT_TRUE(SameBytes(got, *model)) << count;
  }
}

/// A model that holds these bytes, which ONNX's checker has accepted.
std::shared_ptr<const Model> Checked(std::span<const std::byte> bytes) {
  Model::Parts parts;
  parts.bytes.assign(bytes.begin(), bytes.end());
  parts.checked = true;
  return std::make_shared<const Model>(std::move(parts));
}

// Kills: a model of which a part is lost; bytes that are looked into.
TEST(RemoteBackendTest, ACheckedModelIsReadWhole) {
  const auto read = graph::ModelOfText(
      "g (float[1] x) => (float[1] y) { y = test.F(x) } "
      "<domain: \"test\", opset_import: [\"\" : 28]> "
      "F (x) => (y) { y = Relu(x) }");
  const std::vector<std::byte> nothing(3, std::byte{0xFF});
  const auto crossed = Crossed({Checked(read->bytes()), Checked(nothing)});
  ASSERT_EQ(crossed.size(), 2U);
  const Model& got = *crossed[0];
  EXPECT_TRUE(got.checked());
  EXPECT_EQ(got.ir_version(), read->ir_version());
  EXPECT_EQ(got.opsets(), read->opsets());
  EXPECT_EQ(got.graph().nodes.size(), 1U);
  EXPECT_EQ(got.functions().size(), read->functions().size());
  EXPECT_TRUE(SameBytes(got, *read));
  EXPECT_TRUE(std::ranges::equal(crossed[1]->bytes(), nothing));
}

TEST(RemoteBackendTest, OneModelLoadedTwiceIsReadOnce) {
  const auto relu =
      graph::ModelOfText("g (float[1] x) => (float[1] y) { y = Relu(x) }");
  const auto abs =
      graph::ModelOfText("g (float[1] x) => (float[1] y) { y = Abs(x) }");
  const auto crossed = Crossed({relu, relu, abs, relu});
  ASSERT_EQ(crossed.size(), 4U);
  EXPECT_EQ(crossed[0], crossed[1]);
  EXPECT_TRUE(SameBytes(*crossed[2], *abs));
  EXPECT_TRUE(SameBytes(*crossed[3], *relu));
}

// Kills: memory of the caller's that is told of as if it were the backend's, or
// the reverse.
TEST(HeldTensorsTest, AResultInMemoryOfTheCallersIsNotHeld) {
  wire::Arena::Open();
  const auto memory = wire::Arena::Allocate(8);
  wire::SharedSegments segments;
  for (const auto& [segment, descriptor] : wire::Arena::Segments()) {
    ASSERT_TRUE(segments.Add(segment, descriptor).ok());
  }
  std::byte* const there = segments.At(*wire::Arena::Find(memory.get(), 8), 8);
  HeldTensors held;
  const auto put = [&](const Value& value) {
    wire::Writer result;
    held.PutResult(value, segments, &result);
    wire::Writer changed;
    held.PutChanged(&changed);
    std::memset(there, 7, 8);
    wire::Writer again;
    held.PutChanged(&again);
    EXPECT_EQ(changed.bytes(), again.bytes());
    wire::Reader in(result.bytes());
    return static_cast<wire::Came>(in.Number());
  };
  std::memset(there, 0, 8);
  EXPECT_EQ(put(*Tensor::Borrow(DType::kFloat32, {2}, there)),
            wire::Came::kAlias);
  EXPECT_EQ(put(Floats({1, 2})), wire::Came::kValue);
}

// Kills: an answer that is not looked at to its end.
TEST(RemoteBackendTest, AnAnswerOfMoreThanWasAskedIsRefused) {
  const std::vector<ValueInfo> none;
  const std::string loaded = wire::Written(OkStatus(), true, none, none,
                                           uint64_t{63}, std::string_view())
                                 .Take();
  const std::string bound = wire::Written(OkStatus(), true).Take();
  using Act = std::function<Status(Network&, Binding&)>;
  const auto in_one = [](Network& n) -> InOneCall& {
    return dynamic_cast<InOneCall&>(n);
  };
  const auto timed = [](Network& n) -> TimedThere& {
    return dynamic_cast<TimedThere&>(n);
  };
  const auto sees = [](std::span<const Value>) { return true; };
  const BackwardAsk ask;
  const Act acts[] = {
      [](Network& n, Binding&) { return n.Bind({}, {}).status(); },
      [](Network& n, Binding& b) { return n.Forward(b); },
      [](Network& n, Binding&) { return n.Synchronize(); },
      [](Network& n, Binding& b) {
        return n.differentiable()->Backward(b, {}, {}).status();
      },
      [](Network& n, Binding& b) {
        return n.differentiable()->BindBackward(b, {}, {}, {}).status();
      },
      [](Network& n, Binding&) { return n.parameters()->Read("w").status(); },
      [](Network& n, Binding&) { return n.draws()->DrawFrom(1, 2); },
      [](Network& n, Binding& b) { return n.native_step()->Step(b, ""); },
      [&](Network& n, Binding&) {
        return in_one(n).BindAndRun({}, {}).status();
      },
      [&](Network& n, Binding& b) {
        return in_one(n).RunMany(b, 0, sees).status();
      },
      [&](Network& n, Binding& b) { return in_one(n).RunEach(b, {}, sees); },
      [&](Network& n, Binding& b) {
        return in_one(n).BackwardEach(b, {&ask, 1})[0].gradients.status();
      },
      [&](Network& n, Binding& b) {
        return timed(n).TimeRuns(b, {.samples = 0}).status();
      },
      [&](Network& n, Binding&) { return timed(n).TimeLives({}, 0).status(); },
  };
  const auto model =
      graph::ModelOfText("g (float[1] x) => (float[1] y) { y = Abs(x) }");
  for (const Act& act : acts) {
    auto ends = Got(wire::Channel::MakePair());
    std::thread host([&, own = std::move(ends.second)]() mutable {
      for (const std::string& answer : {loaded, bound}) {
        EXPECT_TRUE(own.Receive().ok());
        EXPECT_TRUE(own.Send(answer).ok());
      }
      while (own.Receive().ok()) {
        EXPECT_TRUE(own.Send(std::string(512, '\0')).ok());
      }
    });
    Link link;
    link.Attach(std::move(ends.first));
    {
      RemoteBackend remote("wrong", link);
      const auto network = Got(remote.Load(model, {}));
      const auto binding = Got(network->Bind({}, {}));
      EXPECT_THAT(act(*network, *binding), Says("bytes more than wanted"))
          << &act - acts;
    }
    link.Detach();
    host.join();
  }
}

}  // namespace
}  // namespace assay::host
