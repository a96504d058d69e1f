import { PrometheusExporter, PrometheusSerializer } from "@opentelemetry/exporter-prometheus";
import { AggregationType, MeterProvider } from "@opentelemetry/sdk-metrics";
import { orAborted } from "./or-aborted.ts";

/** What a process measures of itself, read in Prometheus' text format on the ops port. */
export interface Metrics {
  requestServed(request: { service: string; route: string; method: string; status: number; seconds: number }): void;
  eventHandled(event: {
    service: string;
    event: string;
    outcome: "done" | "repeated" | "retried" | "parked";
    seconds: number;
  }): void;
  /** Registers a histogram of seconds; its name ends with `_duration_seconds`. */
  durations(name: string, description: string): (seconds: number, labels: Record<string, string | number>) => void;
  /** Registers a number that is read when the metrics are. */
  observe(
    name: string,
    description: string,
    read: () => number | Promise<number>,
    labels?: Record<string, string>,
  ): void;
  /** The same for several numbers that are read together, told apart by their labels. */
  observeAll(name: string, description: string, read: () => Labelled[] | Promise<Labelled[]>): void;
  /** The same for a number that only grows; its name in the text ends with `_total`. */
  count(name: string, description: string, read: () => number): void;
  text(): Promise<string>;
}

interface Labelled {
  value: number;
  labels: Record<string, string>;
}

/** Seconds: from a cached read to a till of thousands of orders. */
const buckets = [0.001, 0.0025, 0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 2.5, 5, 10, 30];

export function createMetrics(): Metrics {
  const reader = new PrometheusExporter({ preventServerStart: true });
  const provider = new MeterProvider({
    readers: [reader],
    views: [
      {
        instrumentName: "*_duration_seconds",
        aggregation: { type: AggregationType.EXPLICIT_BUCKET_HISTOGRAM, options: { boundaries: buckets } },
      },
    ],
  });
  const meter = provider.getMeter("pragma");
  const durations: Metrics["durations"] = (name, description) => {
    const histogram = meter.createHistogram(name, { description });
    return (seconds, labels) => histogram.record(seconds, labels);
  };
  const requests = durations("http_request_duration_seconds", "Requests served, by route and status");
  const events = durations("event_handling_duration_seconds", "Events handled, by type and outcome");
  const serializer = new PrometheusSerializer();

  const observeAll: Metrics["observeAll"] = (name, description, read) => {
    meter.createObservableGauge(name, { description }).addCallback(async (result) => {
      for (const { value, labels } of await readInTime(read)) result.observe(value, labels);
    });
  };

  return {
    requestServed: ({ seconds, ...labels }) => requests(seconds, labels),
    eventHandled: ({ seconds, ...labels }) => events(seconds, labels),
    durations,
    observe: (name, description, read, labels = {}) =>
      observeAll(name, description, async () => [{ value: await read(), labels }]),
    observeAll,
    count(name, description, read) {
      meter.createObservableCounter(name, { description }).addCallback((result) => result.observe(read()));
    },
    async text() {
      const { resourceMetrics } = await reader.collect();
      return serializer.serialize(resourceMetrics);
    },
  };
}

/** How long one number may take to be read, in milliseconds: the others are not to wait for it. */
const readTime = 1_000;

/** The numbers; none when they cannot be had now, which is told by their absence. */
async function readInTime(read: () => Labelled[] | Promise<Labelled[]>): Promise<Labelled[]> {
  try {
    return await orAborted(Promise.resolve(read()), AbortSignal.timeout(readTime));
  } catch {
    return [];
  }
}
