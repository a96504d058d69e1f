import type { ServiceName } from "@pragma/contracts/service-names";
import type { Queue } from "bullmq";
import type { Hono } from "hono";
import type { z } from "zod";
import type { Route } from "./define-route.ts";
import type { Logger } from "./logger.ts";
import type { Metrics } from "./metrics.ts";
import type { Database } from "./postgres.ts";
import type { RequestContext } from "./request-context.ts";
import type { ServiceRegistry } from "./service-registry.ts";
import type { Signals } from "./signals.ts";
import type { Subscription } from "./subscription.ts";

/** What the runtime gives every service to build its own from. */
export interface ServiceBase {
  db: Database;
  log: Logger;
  metrics: Metrics;
  /** Between the instances of this service. */
  signals: Signals;
  /** The other services, asked over HTTP or in this process. */
  registry: ServiceRegistry;
}

/** Work that one instance at a time does every so often, whatever happens to queues. */
export interface PeriodicTask<Services> {
  name: string;
  everySeconds: number;
  /** `context` is that of this turn, when it is run in its turn. */
  run(services: Services, context?: RequestContext): Promise<void>;
}

/** What a service stands on besides the base, and how it is let go of. */
export interface ServiceResources<Services> {
  services: Services;
  /** What it stands on besides PostgreSQL and NATS, by name: shown to operators. Away, it does not make the service unready. */
  checks?: Record<string, () => Promise<void>>;
  /** Its queues, for operators to look at. */
  queues?: () => Queue[];
  /** What operators may ask of it on the ops port, under its name: for what is no part of the API. */
  operations?: Hono;
  /** Called before anything is stopped: ends the replies that would not end by themselves. */
  beforeStop?: () => void;
  close?: () => Promise<void>;
}

/** Everything that a service does: its table of contents. */
export interface ServiceDefinition<Config extends z.ZodType, Services> {
  name: ServiceName;
  /** `import.meta.url` of the service's module: its migrations stand in that package. */
  module: string;
  config: Config;
  open(base: ServiceBase, config: z.output<Config>): Promise<ServiceResources<Services>> | ServiceResources<Services>;
  routes: Route<Services>[];
  subscriptions?: Subscription<Services>[];
  periodic?: PeriodicTask<Services>[];
}

/** A service, whatever it is made of. */
export type AnyServiceDefinition = ServiceDefinition<z.ZodType, unknown>;

export function defineService<Config extends z.ZodType, Services>(
  definition: ServiceDefinition<Config, Services>,
): AnyServiceDefinition {
  return definition as unknown as AnyServiceDefinition;
}
