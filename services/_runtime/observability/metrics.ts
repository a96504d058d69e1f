import { monitorEventLoopDelay, performance } from "node:perf_hooks";
import { PrometheusExporter, PrometheusSerializer } from "@opentelemetry/exporter-prometheus";
import { AggregationType, MeterProvider } from "@opentelemetry/sdk-metrics";
import { rejectOnAbort } from "../concurrency/reject-on-abort.ts";

/** What a process measures of itself, read in Prometheus' text format on the ops port. */
export type Metrics = ReturnType<typeof createMetrics>;

interface LabelledValue {
  value: number;
  labels: Record<string, string>;
}

/** Seconds: from a cached read to a till of thousands of orders. */
const durationBucketsSeconds = [0.001, 0.0025, 0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 2.5, 5, 10, 30];

export function createMetrics() {
  const reader = new PrometheusExporter({ preventServerStart: true });
  const provider = new MeterProvider({
    readers: [reader],
    views: [
      {
        instrumentName: "*_duration_seconds",
        aggregation: {
          type: AggregationType.EXPLICIT_BUCKET_HISTOGRAM,
          options: { boundaries: durationBucketsSeconds },
        },
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
  function observeAll(name: string, description: string, read: () => LabelledValue[] | Promise<LabelledValue[]>): void {
    meter.createObservableGauge(name, { description }).addCallback(async (result) => {
      for (const { value, labels } of await readWithTimeout(read)) result.observe(value, labels);
    });
  }

  return {
    recordRequestDuration: durations("http_request_duration_seconds", "Requests served, by route and status"),
    recordEventDuration: durations("event_handling_duration_seconds", "Events handled, by type and outcome"),
    durations,
    observeAll,
    /** The same for one number. */
    observeGauge(
      name: string,
      description: string,
      read: () => number | Promise<number>,
      labels: Record<string, string> = {},
    ): void {
      observeAll(name, description, async () => [{ value: await read(), labels }]);
    },
    /** Registers a number that only grows; its name in the text ends with `_total`. */
    observeCounter(name: string, description: string, read: () => number): void {
      meter.createObservableCounter(name, { description }).addCallback((result) => result.observe(read()));
    },
    async toPrometheusText(): Promise<string> {
      const { resourceMetrics } = await reader.collect();
      return serializer.serialize(resourceMetrics);
    },
  };
}

/** How long one number may take to be read, in milliseconds: the others are not to wait for it. */
const readTimeoutMs = 1_000;

/** The numbers; none when they cannot be had now, which is told by their absence. */
async function readWithTimeout(read: () => LabelledValue[] | Promise<LabelledValue[]>): Promise<LabelledValue[]> {
  try {
    return await rejectOnAbort(Promise.resolve(read()), AbortSignal.timeout(readTimeoutMs));
  } catch {
    return [];
  }
}

/** How often the loop's delay is sampled, in milliseconds; what is measured contains it. */
const resolution = 100;

/** What a process tells of itself: how late its event loop is, its CPU and its memory. */
export function registerProcessMetrics(metrics: Metrics): void {
  const delay = monitorEventLoopDelay({ resolution });
  delay.enable();
  let previousUtilization = performance.eventLoopUtilization();
  const toDelaySeconds = (nanoseconds: number) => Math.max(0, nanoseconds / 1e9 - resolution / 1e3);

  metrics.observeAll("event_loop_delay_seconds", "How late the event loop was since this was last read", () => {
    const quantiles = { "0.5": delay.percentile(50), "0.99": delay.percentile(99), "1": delay.max };
    delay.reset();
    return Object.entries(quantiles).map(([quantile, found]) => ({
      value: toDelaySeconds(found),
      labels: { quantile },
    }));
  });
  const utilizationHelp = "Share of time in which the event loop was busy since this was last read";
  metrics.observeGauge("event_loop_utilization", utilizationHelp, () => {
    const now = performance.eventLoopUtilization();
    const { utilization } = performance.eventLoopUtilization(now, previousUtilization);
    previousUtilization = now;
    return utilization;
  });
  metrics.observeGauge("process_resident_memory_bytes", "Memory of this process", () => process.memoryUsage.rss());
  metrics.observeGauge("process_heap_used_bytes", "What of it is JavaScript's", () => process.memoryUsage().heapUsed);
  metrics.observeGauge("process_start_time_seconds", "When this process started, in seconds since 1970", () =>
    Math.round(performance.timeOrigin / 1000),
  );
  metrics.observeCounter("process_cpu_seconds", "CPU that this process has used, in seconds", () => {
    const { user, system } = process.cpuUsage();
    return (user + system) / 1e6;
  });
}
