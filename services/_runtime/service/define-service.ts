import type { ServiceName } from "@pragma/contracts/service-names";
import type { z } from "zod";
import type { Database } from "../database/postgres.ts";
import type { ServiceRouteDefinition } from "../http/define-route.ts";
import type { BusRequestHandler, SendBusRequest } from "../messaging/bus-requests.ts";
import type { InstanceNotifier } from "../messaging/instance-notifier.ts";
import type { EventSubscription } from "../messaging/subscription.ts";
import type { ObservabilityContext } from "../observability/request-context.ts";
import type { ProcessComponent, ProcessContext } from "../process/run-process.ts";
import type { ServiceRegistry } from "../service-calls/service-registry.ts";

export interface ServiceRuntimeResources extends ProcessContext {
  db: Database;
  notifier: InstanceNotifier;
  sendBusRequest: SendBusRequest;
  registry: ServiceRegistry;
}

/** A task that one instance at a time runs at an interval, without a job queue. */
export interface PeriodicTask<Services> {
  name: string;
  intervalSeconds: number;
  /** The seconds after which the task is abandoned, for tasks that may take longer than `PERIODIC_TASK_TIMEOUT_SECONDS`. */
  timeoutSeconds?: number;
  /** The scheduler passes `context`, and `signal`, which is aborted when the task is abandoned or the process stops. */
  run(services: Services, context?: ObservabilityContext, signal?: AbortSignal): Promise<void>;
}

export interface CreatedServiceResources<Services>
  extends Pick<ProcessComponent, "queues" | "opsRoutes" | "beforeStop"> {
  services: Services;
  /** Checks of dependencies that are required until each was reached once, by name. */
  startupChecks?: Record<string, () => Promise<void>>;
  /** Checks of further dependencies, by name. Failures are reported but do not affect readiness. */
  checks?: Record<string, () => Promise<void>>;
  close?: () => Promise<void>;
}

export interface ServiceDefinition<Config extends z.ZodType, Services> {
  name: ServiceName;
  /** The `import.meta.url` of the service's module. The module's package contains the service's migrations. */
  module: string;
  config: Config;
  createResources(
    dependencies: ServiceRuntimeResources,
    config: z.output<Config>,
  ): Promise<CreatedServiceResources<Services>> | CreatedServiceResources<Services>;
  routes: ServiceRouteDefinition<Services>[];
  subscriptions?: EventSubscription<Services>[];
  /** Answers to requests over NATS, of which only one instance of the service gets each. */
  requestHandlers?: BusRequestHandler<Services>[];
  periodic?: PeriodicTask<Services>[];
}

/** A service definition without its specific types, so that a list can contain the definitions of all services. */
export type AnyServiceDefinition = ServiceDefinition<z.ZodType, unknown>;

export function defineService<Config extends z.ZodType, Services>(
  definition: ServiceDefinition<Config, Services>,
): AnyServiceDefinition {
  return definition as unknown as AnyServiceDefinition;
}
