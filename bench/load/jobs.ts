import type { SignedAs } from "../sign-requests.ts";

/** What the load generator can be told to do, and what it answers. It runs in a process of its own. */
export interface Jobs {
  steady: { job: SteadyLoad[]; answer: LoadAnswer[] };
  saturate: { job: SaturatingLoad; answer: LoadAnswer };
  alternate: { job: Alternation; answer: AlternationAnswer };
  push: { job: Pushes; answer: PushesAnswer };
  follow: { job: Following; answer: FollowingAnswer };
  pay: { job: Payments; answer: PaymentsAnswer };
}

export type JobName = keyof Jobs;

interface Target {
  /** Scheme, host and port. */
  origin: string;
  headers: Record<string, string>;
  /** Signs each request, to a service that is asked without the gateway. */
  signedAs?: SignedAs | undefined;
}

/** Requests that begin at a fixed rate, whether those before them are answered or not. Several loads run side by side. */
export interface SteadyLoad extends Target {
  path: string;
  perSecond: number;
  seconds: number;
  connections: number;
}

/** So many connections, each asking again as soon as it is answered. */
export interface SaturatingLoad extends Target {
  path: string;
  seconds: number;
  connections: number;
}

export interface LoadAnswer {
  requests: number;
  /** From the first request's beginning to the last one's end. */
  seconds: number;
  /** Milliseconds from a request to the end of its reply. */
  latency: { p50: number; p99: number };
}

/** Each page in turn, one request at a time. */
export interface Alternation {
  origin: string;
  pages: { path: string; signedAs: SignedAs }[];
  rounds: number;
  /** No further round begins after this time, once there have been three. */
  seconds: number;
}

export interface AlternationAnswer {
  /** Milliseconds, of each page. */
  medians: number[];
}

/** Tills that differ in their ids only, pushed through the gateway. */
export interface Pushes extends Target {
  /** The till's JSON. */
  template: string;
  tills: number;
  /** How many push at once, each the next till once the one before is readable. */
  pushers: number;
  /** Milliseconds between two questions for a report: how exactly it is known when it could be read. */
  askEvery: number;
}

export interface PushesAnswer {
  /** Milliseconds from the push to its reply, of each till. */
  answered: number[];
  /** Milliseconds from the push's reply to the report being readable, of each till. */
  readable: number[];
  /** Of the whole. */
  seconds: number;
}

/** Orders that change at a fixed rate, and readers that are told of every change. */
export interface Following extends Target {
  /** Where orders are sent, and where readers listen. */
  paths: { orders: string; stream: string };
  /** An order's JSON, with a revisionHash. */
  template: string;
  orders: number;
  perSecond: number;
  seconds: number;
  readers: number;
}

export interface FollowingAnswer {
  upserts: number;
  /** Milliseconds from the upsert to its reply. */
  answered: { p50: number; p99: number };
  /** Milliseconds from the upsert's reply to each reader having the change; 0 when it had it before. */
  heard: { p50: number; p99: number };
}

/** Orders that are paid at a fixed rate, each another one. */
export interface Payments extends Target {
  /** Where orders are sent. */
  path: string;
  /** A paid order's JSON, with its id and revisionHash in it. */
  template: string;
  perSecond: number;
  seconds: number;
}

export interface PaymentsAnswer {
  /** Each order's id, and when its reply came, in milliseconds since 1970. */
  replies: [string, number][];
  /** Milliseconds from the request to its reply. */
  answered: { p50: number; p99: number };
  /** Of the whole. */
  seconds: number;
}
