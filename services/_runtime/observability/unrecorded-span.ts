import { randomUUID } from "node:crypto";
import { type Span, type SpanContext, TraceFlags } from "@opentelemetry/api";

const sampled = TraceFlags.SAMPLED;

/** A span that is not recorded. It only has ids, which are made when they are first needed. */
export class UnrecordedSpan implements Span {
  readonly #findParent: () => SpanContext | null;
  #context: SpanContext | undefined;

  constructor(findParent: () => SpanContext | null) {
    this.#findParent = findParent;
  }

  /** The ids are in the trace of the parent; without a parent, in a new trace. */
  spanContext(): SpanContext {
    if (this.#context) return this.#context;
    const { traceId = randomHex(32), traceFlags = sampled } = this.#findParent() ?? {};
    this.#context = { traceId, spanId: randomHex(16), traceFlags };
    return this.#context;
  }

  isRecording(): boolean {
    return false;
  }

  setAttribute(): this {
    return this;
  }

  setAttributes(): this {
    return this;
  }

  addEvent(): this {
    return this;
  }

  addLink(): this {
    return this;
  }

  addLinks(): this {
    return this;
  }

  setStatus(): this {
    return this;
  }

  updateName(): this {
    return this;
  }

  recordException(): void {}

  end(): void {}
}

/** At most 32 digits. Node generates UUIDs faster than other random values. */
function randomHex(digits: number): string {
  return randomUUID().replaceAll("-", "").slice(-digits);
}
