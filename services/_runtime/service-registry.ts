import { randomUUID } from "node:crypto";
import { ApiError } from "@pragma/contracts/errors";
import type { CallerName } from "@pragma/contracts/service-names";
import { type ServiceName, serviceNames } from "@pragma/contracts/service-names";
import { z } from "zod";
import { internalPrincipal, type ServiceFetch } from "./caller.ts";
import { type Environment, readConfig } from "./config.ts";
import { createRequestSigner, type RequestSigner } from "./signed-request.ts";

/** `till-ingest` is reached at TILL_INGEST_URL. */
const variableOf = (service: ServiceName) => `${service.toUpperCase().replaceAll("-", "_")}_URL`;

const serviceUrls = z.object(
  Object.fromEntries(serviceNames.map((service) => [variableOf(service), z.url({ protocol: /^https?$/ }).optional()])),
);

/** A service of another process: its URL, and what identifies this process to it. */
export interface RemoteService {
  url: string;
  sign: RequestSigner;
}

/** A question of one part of the product to another. */
interface InternalRequest {
  from: CallerName;
  path: string;
  timeoutMs: number;
  requestId?: string | undefined;
  traceparent?: string | undefined;
}

/** The services of this process and, by their URLs, those of others. */
export interface ServiceRegistry {
  /** Registers a service of this process. */
  add(service: ServiceName, fetch: ServiceFetch): void;
  /** Returns the service when it runs in this process. */
  local(service: ServiceName): ServiceFetch | undefined;
  /**
   * Returns how a caller reaches a service of another process; undefined when none is known there.
   *
   * @throws `ConfigError` when there is no key between the two.
   */
  remote(service: ServiceName, from: CallerName): RemoteService | undefined;
  /** Returns a service's response to a question of this product's own. Rejects when it does not come in time. */
  ask(service: ServiceName, request: InternalRequest): Promise<Response>;
}

export function createServiceRegistry(environment: Environment): ServiceRegistry {
  const urls = readConfig(serviceUrls, environment);
  const locals = new Map<ServiceName, ServiceFetch>();
  const remotes = new Map<string, RemoteService>();

  const registry: ServiceRegistry = {
    add: (service, fetch) => void locals.set(service, fetch),
    local: (service) => locals.get(service),
    remote(service, from) {
      const url = urls[variableOf(service)];
      if (url === undefined || locals.has(service)) return undefined;
      const name = `${from} ${service}`;
      const remote = remotes.get(name) ?? { url, sign: createRequestSigner(environment, from, service) };
      remotes.set(name, remote);
      return remote;
    },
    async ask(service, { from, path, timeoutMs, requestId = randomUUID(), traceparent }) {
      const signal = AbortSignal.timeout(timeoutMs);
      const origin = "http://internal";
      const local = locals.get(service);
      if (local) {
        const caller = { principal: internalPrincipal(from, service), requestId, traceparent, origin };
        const request = new Request(`http://${service}${path}`, { signal });
        // A service of this process is not cut off by a signal: it is no longer waited for.
        const timeout = new Promise<never>((_, reject) => {
          signal.addEventListener("abort", () => reject(serviceUnavailable(service, signal.reason)), { once: true });
        });
        return Promise.race([local(request, { caller }), timeout]);
      }
      const remote = registry.remote(service, from);
      if (!remote) throw serviceUnavailable(service);
      const url = new URL(path, remote.url);
      const target = url.pathname + url.search;
      const headers = remote.sign({ method: "GET", target, requestId, traceparent, origin });
      try {
        return await fetch(url, { headers, signal, redirect: "manual" });
      } catch (cause) {
        throw serviceUnavailable(service, cause);
      }
    },
  };
  return registry;
}

/** An error that says that a service cannot be asked, and when to try again. */
export function serviceUnavailable(service: ServiceName, cause?: unknown): ApiError {
  return new ApiError("service_unavailable", {
    detail: `The ${service} service cannot be reached. Nothing was done; try again in a moment.`,
    headers: { "retry-after": "2" },
    cause: cause ?? new Error(`${variableOf(service)} is not set and ${service} does not run in this process.`),
  });
}
