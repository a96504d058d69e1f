import type { ServiceName } from "@pragma/contracts/service-names";
import type { z } from "zod";
import type { Database } from "../database/postgres.ts";
import type { Route } from "../http/define-route.ts";
import type { InstanceNotifier } from "../messaging/event-bus.ts";
import type { EventSubscription } from "../messaging/subscription.ts";
import type { RequestContext } from "../observability/request-context.ts";
import type { ProcessComponent, ProcessDependencies } from "../process/run-process.ts";
import type { ServiceRegistry } from "../service-calls/service-registry.ts";

/** What the runtime gives every service to build its own from. */
export interface ServiceDependencies extends Omit<ProcessDependencies, "environment"> {
  db: Database;
  /** Between the instances of this service. */
  signals: InstanceNotifier;
  /** The other services, asked over HTTP or in this process. */
  registry: ServiceRegistry;
}

/** Work that one instance at a time does every so often, whatever happens to queues. */
export interface PeriodicTask<Services> {
  name: string;
  intervalSeconds: number;
  /** `context` is that of this turn, when it is run in its turn. */
  run(services: Services, context?: RequestContext): Promise<void>;
}

/** What a service stands on besides the base, and how it is let go of. */
export interface ServiceResources<Services> extends Pick<ProcessComponent, "queues" | "operations" | "beforeStop"> {
  services: Services;
  /** What it stands on besides PostgreSQL and NATS, by name: shown to operators. Away, it does not make the service unready. */
  checks?: Record<string, () => Promise<void>>;
  close?: () => Promise<void>;
}

/** Everything that a service does: its table of contents. */
export interface ServiceDefinition<Config extends z.ZodType, Services> {
  name: ServiceName;
  /** `import.meta.url` of the service's module: its migrations stand in that package. */
  module: string;
  config: Config;
  createResources(
    dependencies: ServiceDependencies,
    config: z.output<Config>,
  ): Promise<ServiceResources<Services>> | ServiceResources<Services>;
  routes: Route<Services>[];
  subscriptions?: EventSubscription<Services>[];
  periodic?: PeriodicTask<Services>[];
}

/** A service, whatever it is made of. */
export type AnyServiceDefinition = ServiceDefinition<z.ZodType, unknown>;

export function defineService<Config extends z.ZodType, Services>(
  definition: ServiceDefinition<Config, Services>,
): AnyServiceDefinition {
  return definition as unknown as AnyServiceDefinition;
}
