import { monitorEventLoopDelay, performance } from "node:perf_hooks";
import { PrometheusExporter, PrometheusSerializer } from "@opentelemetry/exporter-prometheus";
import { AggregationType, MeterProvider } from "@opentelemetry/sdk-metrics";
import { readMemoryLimitBytes } from "../admission/request-body-memory.ts";
import { racePromiseWithAbort } from "../concurrency/race-promise-with-abort.ts";
import { productVersion } from "../process/product-version.ts";
import { timeZoneDataVersion } from "../process/time-zone-data.ts";

export type PrometheusMetrics = ReturnType<typeof createPrometheusMetrics>;

type ReadGauges = () => LabeledValue[] | Promise<LabeledValue[]>;
interface LabeledValue {
  value: number;
  labels: Record<string, string>;
}

/** The upper bounds of histogram buckets, in seconds. They cover cached reads and tills with thousands of orders. */
const durationBucketsSeconds = [0.001, 0.0025, 0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 2.5, 5, 10, 30];

/** A gauge that fails or is slower is omitted, because it would delay all metrics. */
const readTimeoutMs = 1_000;

/** The methods that the API has. Clients can send any of the many that Node.js parses, and each is a series. */
const measuredMethods = new Set(["GET", "HEAD", "POST", "PUT", "PATCH", "DELETE", "OPTIONS"]);

export function createPrometheusMetrics() {
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

  /** Returns a function that records a duration in seconds. `name` must end with `_duration_seconds`. */
  function createDurationHistogram(name: string, description: string) {
    const histogram = meter.createHistogram(name, { description });
    return (seconds: number, labels: Record<string, string | number>) => histogram.record(seconds, labels);
  }

  /** Creates a counter and returns a function that adds to it. The exporter appends `_total` to the counter's name. */
  function createCounter(name: string, description: string) {
    const counter = meter.createCounter(name, { description });
    return (count: number, labels: Record<string, string>) => counter.add(count, labels);
  }

  function observeGauges(name: string, description: string, read: ReadGauges): void {
    meter.createObservableGauge(name, { description }).addCallback(async (result) => {
      const values = racePromiseWithAbort((async () => read())(), AbortSignal.timeout(readTimeoutMs));
      for (const { value, labels } of await values.catch(() => [])) result.observe(value, labels);
    });
  }

  const recordRequestSeconds = createDurationHistogram(
    "http_request_duration_seconds",
    "Duration of requests, by route and status",
  );

  return {
    recordRequestDuration(
      seconds: number,
      { method, ...labels }: { service: string; route: string; method: string; status: number },
    ): void {
      recordRequestSeconds(seconds, { ...labels, method: measuredMethods.has(method) ? method : "other" });
    },
    recordEventDuration: createDurationHistogram(
      "event_handling_duration_seconds",
      "Duration of event handling, by type and outcome",
    ),
    countEventHandlerTimeouts: createCounter("event_handler_timeouts", "Events whose handler did not end in time"),
    countPeriodicTaskTimeouts: createCounter("periodic_task_timeouts", "Periodic tasks that did not end in time"),
    createDurationHistogram,
    observeGauges,
    observeGauge(
      name: string,
      description: string,
      read: () => number | Promise<number>,
      labels: Record<string, string> = {},
    ): void {
      observeGauges(name, description, async () => [{ value: await read(), labels }]);
    },
    observeCounter(name: string, description: string, read: () => number, labels: Record<string, string> = {}): void {
      meter.createObservableCounter(name, { description }).addCallback((result) => result.observe(read(), labels));
    },
    async toPrometheusText(): Promise<string> {
      const { resourceMetrics } = await reader.collect();
      return serializer.serialize(resourceMetrics);
    },
  };
}

/** It is subtracted from the measured delays, because they include it. */
const samplingIntervalMs = 100;
/** Longer than any usual interval between two collections, in milliseconds. */
const samplingAfterCollectionMs = 5 * 60_000;

/** Registers the metrics of the process. `commit` is the commit from which it was built. */
export function registerProcessMetrics(metrics: PrometheusMetrics, { commit }: { commit: string }): void {
  const build = { version: productVersion, commit, node: process.version, tz: timeZoneDataVersion };
  metrics.observeGauge("build_info", "Always 1. The labels are the versions of this process", () => 1, build);

  const delay = monitorEventLoopDelay({ resolution: samplingIntervalMs });
  let samplingEnd: NodeJS.Timeout | undefined;
  /** Samples while metrics are collected, because ten samples a second are much of what an idle process costs. */
  function continueSampling(): void {
    delay.enable();
    clearTimeout(samplingEnd);
    samplingEnd = setTimeout(() => delay.disable(), samplingAfterCollectionMs).unref();
  }
  let previousUtilization = performance.eventLoopUtilization();
  const toDelaySeconds = (nanoseconds: number) => Math.max(0, nanoseconds / 1e9 - samplingIntervalMs / 1e3);

  metrics.observeGauges("event_loop_delay_seconds", "Delay of the event loop since the last collection", () => {
    const quantiles = { "0.5": delay.percentile(50), "0.99": delay.percentile(99), "1": delay.max };
    delay.reset();
    continueSampling();
    return Object.entries(quantiles).map(([quantile, nanoseconds]) => ({
      value: toDelaySeconds(nanoseconds),
      labels: { quantile },
    }));
  });
  const utilizationHelp = "Share of time in which the event loop was busy since the last collection";
  metrics.observeGauge("event_loop_utilization", utilizationHelp, () => {
    const now = performance.eventLoopUtilization();
    const { utilization } = performance.eventLoopUtilization(now, previousUtilization);
    previousUtilization = now;
    return utilization;
  });
  metrics.observeGauge("process_resident_memory_bytes", "Resident memory", () => process.memoryUsage.rss());
  const memoryLimitHelp = "Memory limit of the container of this process, or else the memory of the machine";
  metrics.observeGauge("process_memory_limit_bytes", memoryLimitHelp, readMemoryLimitBytes);
  metrics.observeGauge("process_heap_used_bytes", "Heap memory in use", () => process.memoryUsage().heapUsed);
  metrics.observeGauge("process_start_time_seconds", "Start time of this process, in seconds since 1970", () =>
    Math.round(performance.timeOrigin / 1000),
  );
  metrics.observeCounter("process_cpu_seconds", "CPU time that this process has used, in seconds", () => {
    const { user, system } = process.cpuUsage();
    return (user + system) / 1e6;
  });
}
