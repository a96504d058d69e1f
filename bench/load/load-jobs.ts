import type { InternalRequestSigningOptions } from "../sign-requests.ts";

/** The jobs of the load generator, which runs in its own process, with their results. */
export interface LoadGeneratorJobTypesByName {
  steady: { job: FixedRateLoadOptions[]; result: LoadTestResult[] };
  saturate: { job: SaturatingLoadOptions; result: LoadTestResult };
  alternate: { job: AlternatingLoadOptions; result: AlternatingLoadResult };
  push: { job: BenchTillPushLoadOptions; result: TillPushLoadResult };
  follow: { job: BenchLiveOrderLoadOptions; result: BenchLiveOrderLoadResult };
  pay: { job: PaidLiveOrderLoadOptions; result: PaidLiveOrderLoadResult };
  flood: { job: LocationFloodOptions; result: LocationFloodResult };
}

export type LoadGeneratorJobName = keyof LoadGeneratorJobTypesByName;

interface LoadTarget {
  /** Scheme, host and port. */
  origin: string;
  headers: Record<string, string>;
  /** Signs each request as the gateway does, for requests straight to a service. */
  signingOptions?: InternalRequestSigningOptions | undefined;
}

/** Requests at a fixed rate, which does not depend on the responses. Several loads run concurrently. */
export interface FixedRateLoadOptions extends LoadTarget {
  path: string;
  perSecond: number;
  seconds: number;
  connections: number;
}

/** Connections that each send the next request when the response to the previous request has arrived. */
export interface SaturatingLoadOptions extends LoadTarget {
  path: string;
  seconds: number;
  connections: number;
}

export interface LoadTestResult {
  requests: number;
  /** From the start of the first request to the end of the last response. */
  seconds: number;
  /** Milliseconds from a request to the end of its response. */
  latency: { p50: number; p99: number };
}

/** Requests for each page, one request at a time. */
export interface AlternatingLoadOptions {
  origin: string;
  pages: { path: string; signingOptions: InternalRequestSigningOptions }[];
  rounds: number;
  /** Seconds after which no further round begins. At least three rounds are measured in any case. */
  seconds: number;
}

export interface AlternatingLoadResult {
  /** Median response times in milliseconds, one for each page. */
  medians: number[];
}

/** Tills that differ only in their ids, pushed through the gateway. */
export interface BenchTillPushLoadOptions extends LoadTarget {
  /** The till's JSON. */
  template: string;
  tills: number;
  /** Concurrent pushers. Each pusher pushes its next till when the report of its previous till is available. */
  pushers: number;
  /** Milliseconds between two requests for a report: the precision of `reportDelaysMs`. */
  pollIntervalMs: number;
}

export interface TillPushLoadResult {
  /** Milliseconds from the push to its response, one for each till. */
  responseTimesMs: number[];
  /** Milliseconds from the response until the report is available, one for each till. */
  reportDelaysMs: number[];
  /** Duration of the whole job. */
  seconds: number;
}

/** Orders that change at a fixed rate, and stream readers that receive every change. */
export interface BenchLiveOrderLoadOptions extends LoadTarget {
  /** Where orders are sent, and where readers connect. */
  paths: { orders: string; stream: string };
  /** An order's JSON, with a revisionHash. */
  template: string;
  orders: number;
  perSecond: number;
  seconds: number;
  readers: number;
}

export interface BenchLiveOrderLoadResult {
  upserts: number;
  /** Milliseconds from the upsert to its response. */
  responseTimeMs: { p50: number; p99: number };
  /** Milliseconds from the upsert's response to the arrival at each reader; 0 if the arrival precedes the response. */
  deliveryDelayMs: { p50: number; p99: number };
}

/** Different orders that are paid at a fixed rate. */
export interface PaidLiveOrderLoadOptions extends LoadTarget {
  /** Where orders are sent. */
  path: string;
  /** A paid order's JSON, with its id and revisionHash. */
  template: string;
  perSecond: number;
  seconds: number;
}

export interface PaidLiveOrderLoadResult {
  /** Each order's id, and the time of its response in milliseconds since 1970. */
  responseTimesByOrderId: [string, number][];
  /** Milliseconds from the request to its response. */
  responseTimeMs: { p50: number; p99: number };
  /** Duration of the whole job. */
  seconds: number;
}

/** A kind of requests with which one location uses as much of the product as it may. */
export type LocationFloodKind =
  | "largeTills"
  | "changes"
  | "changePages"
  | "reads"
  | "metrics"
  | "exports"
  | "liveOrders"
  | "mcpMessages"
  | "mcpCalls";

export interface LocationFloodOptions extends LoadTarget {
  kinds: LocationFloodKind[];
  seconds: number;
}

export interface LocationFloodResult {
  /** Responses by kind and status. */
  statuses: Partial<Record<LocationFloodKind, Record<string, number>>>;
}
