import type { RequestSigningOptions } from "../sign-requests.ts";

/** What the load generator can be told to do, and what it answers. It runs in a process of its own. */
export interface LoadJobs {
  steady: { job: FixedRateLoad[]; answer: LoadResult[] };
  saturate: { job: SaturatingLoad; answer: LoadResult };
  alternate: { job: AlternatingLoad; answer: AlternatingLoadResult };
  push: { job: TillPushLoad; answer: TillPushLoadResult };
  follow: { job: LiveOrderLoad; answer: LiveOrderLoadResult };
  pay: { job: OrderPaymentLoad; answer: OrderPaymentLoadResult };
}

export type LoadJobName = keyof LoadJobs;

interface LoadTarget {
  /** Scheme, host and port. */
  origin: string;
  headers: Record<string, string>;
  /** Signs each request, to a service that is asked without the gateway. */
  signedAs?: RequestSigningOptions | undefined;
}

/** Requests that begin at a fixed rate, whether those before them are answered or not. Several loads run side by side. */
export interface FixedRateLoad extends LoadTarget {
  path: string;
  perSecond: number;
  seconds: number;
  connections: number;
}

/** So many connections, each asking again as soon as it is answered. */
export interface SaturatingLoad extends LoadTarget {
  path: string;
  seconds: number;
  connections: number;
}

export interface LoadResult {
  requests: number;
  /** From the first request's beginning to the last one's end. */
  seconds: number;
  /** Milliseconds from a request to the end of its reply. */
  latency: { p50: number; p99: number };
}

/** Each page in turn, one request at a time. */
export interface AlternatingLoad {
  origin: string;
  pages: { path: string; signedAs: RequestSigningOptions }[];
  rounds: number;
  /** No further round begins after this time, once there have been three. */
  seconds: number;
}

export interface AlternatingLoadResult {
  /** Milliseconds, of each page. */
  medians: number[];
}

/** Tills that differ in their ids only, pushed through the gateway. */
export interface TillPushLoad extends LoadTarget {
  /** The till's JSON. */
  template: string;
  tills: number;
  /** How many push at once, each the next till once the one before is readable. */
  pushers: number;
  /** Milliseconds between two questions for a report: how exactly it is known when it could be read. */
  askEvery: number;
}

export interface TillPushLoadResult {
  /** Milliseconds from the push to its reply, of each till. */
  responseTimesMs: number[];
  /** Milliseconds from the push's reply to the report being readable, of each till. */
  reportDelaysMs: number[];
  /** Of the whole. */
  seconds: number;
}

/** Orders that change at a fixed rate, and readers that are told of every change. */
export interface LiveOrderLoad extends LoadTarget {
  /** Where orders are sent, and where readers listen. */
  paths: { orders: string; stream: string };
  /** An order's JSON, with a revisionHash. */
  template: string;
  orders: number;
  perSecond: number;
  seconds: number;
  readers: number;
}

export interface LiveOrderLoadResult {
  upserts: number;
  /** Milliseconds from the upsert to its reply. */
  responseTimeMs: { p50: number; p99: number };
  /** Milliseconds from the upsert's reply to each reader having the change; 0 when it had it before. */
  deliveryDelayMs: { p50: number; p99: number };
}

/** Orders that are paid at a fixed rate, each another one. */
export interface OrderPaymentLoad extends LoadTarget {
  /** Where orders are sent. */
  path: string;
  /** A paid order's JSON, with its id and revisionHash in it. */
  template: string;
  perSecond: number;
  seconds: number;
}

export interface OrderPaymentLoadResult {
  /** Each order's id, and when its reply came, in milliseconds since 1970. */
  responseTimesByOrderId: [string, number][];
  /** Milliseconds from the request to its reply. */
  responseTimeMs: { p50: number; p99: number };
  /** Of the whole. */
  seconds: number;
}
