import { randomBytes } from "node:crypto";
import {
  AlwaysOffSampler,
  AlwaysOnSampler,
  ParentBasedSampler,
  type Sampler,
  TraceIdRatioBasedSampler,
} from "@opentelemetry/sdk-trace-base";
import { describe, expect, it, onTestFinished } from "vitest";
import { recordSpans } from "../testing/record-spans.ts";
import { startClientRequestSpan, startSpan } from "./tracing.ts";

const none = () => new ParentBasedSampler({ root: new AlwaysOffSampler() });
const all = () => new ParentBasedSampler({ root: new AlwaysOnSampler() });
const half = () => new ParentBasedSampler({ root: new TraceIdRatioBasedSampler(0.5) });

function recordWithSampler(sampler: Sampler, trustsClients = false) {
  const traces = recordSpans({ sampler, trustsClients });
  onTestFinished(() => traces.stop());
  return traces;
}

/** What becomes of a request whose client names its trace; in the trace, a step of it that follows in another process. */
function traceClientRequest(flag: "00" | "01", traceId = randomBytes(16).toString("hex")) {
  const span = startClientRequestSpan({ name: "gateway" }, `00-${traceId}-b7ad6b7169203331-${flag}`);
  const { spanId, traceFlags, traceId: keptId } = span.spanContext();
  startSpan({ name: "service" }, `00-${keptId}-${spanId}-0${traceFlags}`).end();
  span.end();
  return { traceId, keptId, isRecorded: traceFlags === 1 };
}

describe("a client that says to be traced", () => {
  it("is not, where the operator traces nothing, and its trace's id goes on", () => {
    const traces = recordWithSampler(none());
    const { traceId, keptId } = traceClientRequest("01");
    expect(keptId).toBe(traceId);
    expect(traces.listSpans(traceId)).toEqual([]);
  });

  it("is, where the operator trusts clients with it", () => {
    const traces = recordWithSampler(none(), true);
    expect(traces.listSpans(traceClientRequest("01").traceId)).toHaveLength(2);
  });

  it("is as often as everybody else, also by ids that the ratio takes", () => {
    recordWithSampler(half());
    const taken = Array.from(
      { length: 200 },
      () => traceClientRequest("01", `${randomBytes(12).toString("hex")}00000001`).isRecorded,
    );
    expect(taken).toContain(true);
    expect(taken).toContain(false);
  });
});

describe("a client that says not to be traced", () => {
  it("is, in its own trace, where the operator traces everything", () => {
    const traces = recordWithSampler(all());
    const names = traces
      .listSpans(traceClientRequest("00").traceId)
      .map(({ name, parentSpanContext }) => [name, parentSpanContext?.spanId]);
    expect(names).toEqual([
      ["service", expect.not.stringMatching("b7ad6b7169203331")],
      ["gateway", "b7ad6b7169203331"],
    ]);
  });

  it("is not, where the operator trusts clients with it", () => {
    const traces = recordWithSampler(all(), true);
    expect(traces.listSpans(traceClientRequest("00").traceId)).toEqual([]);
  });
});
