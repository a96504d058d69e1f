import { PrometheusExporter, PrometheusSerializer } from "@opentelemetry/exporter-prometheus";
import { AggregationType, MeterProvider } from "@opentelemetry/sdk-metrics";
import { orAborted } from "./or-aborted.ts";

/** What a process measures of itself, read in Prometheus' text format on the ops port. */
export type Metrics = ReturnType<typeof createMetrics>;

interface Labelled {
  value: number;
  labels: Record<string, string>;
}

/** Seconds: from a cached read to a till of thousands of orders. */
const buckets = [0.001, 0.0025, 0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 2.5, 5, 10, 30];

export function createMetrics() {
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
  const serializer = new PrometheusSerializer();

  /** Registers a histogram of seconds; its name ends with `_duration_seconds`. */
  function durations(name: string, description: string) {
    const histogram = meter.createHistogram(name, { description });
    return (seconds: number, labels: Record<string, string | number>) => histogram.record(seconds, labels);
  }

  /** Registers several numbers that are read together when the metrics are, told apart by their labels. */
  function observeAll(name: string, description: string, read: () => Labelled[] | Promise<Labelled[]>): void {
    meter.createObservableGauge(name, { description }).addCallback(async (result) => {
      for (const { value, labels } of await readInTime(read)) result.observe(value, labels);
    });
  }

  return {
    requestServed: durations("http_request_duration_seconds", "Requests served, by route and status"),
    eventHandled: durations("event_handling_duration_seconds", "Events handled, by type and outcome"),
    durations,
    observeAll,
    /** The same for one number. */
    observe(
      name: string,
      description: string,
      read: () => number | Promise<number>,
      labels: Record<string, string> = {},
    ): void {
      observeAll(name, description, async () => [{ value: await read(), labels }]);
    },
    /** Registers a number that only grows; its name in the text ends with `_total`. */
    count(name: string, description: string, read: () => number): void {
      meter.createObservableCounter(name, { description }).addCallback((result) => result.observe(read()));
    },
    async text(): Promise<string> {
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
