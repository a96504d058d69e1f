import { randomBytes } from "node:crypto";
import {
  AlwaysOffSampler,
  AlwaysOnSampler,
  ParentBasedSampler,
  type Sampler,
  TraceIdRatioBasedSampler,
} from "@opentelemetry/sdk-trace-base";
import { describe, expect, it, onTestFinished } from "vitest";
import { startTestSpanRecorder } from "../testing/record-spans.ts";
import { startIncomingRequestSpan, startSpan } from "./tracing.ts";

const none = () => new ParentBasedSampler({ root: new AlwaysOffSampler() });
const all = () => new ParentBasedSampler({ root: new AlwaysOnSampler() });
const half = () => new ParentBasedSampler({ root: new TraceIdRatioBasedSampler(0.5) });

function recordWithSampler(sampler: Sampler, shouldTrustClients = false) {
  const traces = startTestSpanRecorder({ sampler, shouldTrustClients });
  onTestFinished(() => traces.stop());
  return traces;
}

/**
 * Records the span of a client's request, whose `traceparent` has this trace id and sampled flag, and a child span, as
 * a service in another process would create it.
 */
function traceClientRequest(flag: "00" | "01", traceId = randomBytes(16).toString("hex")) {
  const span = startIncomingRequestSpan({ name: "gateway" }, `00-${traceId}-b7ad6b7169203331-${flag}`);
  const { spanId, traceFlags, traceId: spanTraceId } = span.spanContext();
  startSpan({ name: "service" }, `00-${spanTraceId}-${spanId}-0${traceFlags}`).end();
  span.end();
  return { traceId, spanTraceId, isRecorded: traceFlags === 1 };
}

describe("a request with the sampled flag", () => {
  it("is not recorded when the operator samples nothing, and keeps its trace id", () => {
    const traces = recordWithSampler(none());
    const { traceId, spanTraceId } = traceClientRequest("01");
    expect(spanTraceId).toBe(traceId);
    expect(traces.listSpans(traceId)).toEqual([]);
  });

  it("is recorded when the operator trusts clients", () => {
    const traces = recordWithSampler(none(), true);
    expect(traces.listSpans(traceClientRequest("01").traceId)).toHaveLength(2);
  });

  it("is sampled like other requests, even with an id that the ratio sampler accepts", () => {
    recordWithSampler(half());
    const sampled = Array.from(
      { length: 200 },
      () => traceClientRequest("01", `${randomBytes(12).toString("hex")}00000001`).isRecorded,
    );
    expect(sampled).toContain(true);
    expect(sampled).toContain(false);
  });
});

describe("a request without the sampled flag", () => {
  it("is recorded in the client's trace when the operator samples everything", () => {
    const traces = recordWithSampler(all());
    const names = traces
      .listSpans(traceClientRequest("00").traceId)
      .map(({ name, parentSpanContext }) => [name, parentSpanContext?.spanId]);
    expect(names).toEqual([
      ["service", expect.not.stringMatching("b7ad6b7169203331")],
      ["gateway", "b7ad6b7169203331"],
    ]);
  });

  it("is not recorded when the operator trusts clients", () => {
    const traces = recordWithSampler(all(), true);
    expect(traces.listSpans(traceClientRequest("00").traceId)).toEqual([]);
  });
});
