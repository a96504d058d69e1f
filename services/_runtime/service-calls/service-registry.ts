import { randomUUID } from "node:crypto";
import { ApiError } from "@pragma/contracts/errors";
import { type InternalCallerName, type ServiceName, serviceNames } from "@pragma/contracts/service-names";
import { z } from "zod";
import { racePromiseWithAbort } from "../concurrency/race-promise-with-abort.ts";
import type { EnvironmentVariables } from "../config/environment-variables.ts";
import { integerEnvSchema, readConfigFromEnvironment } from "../config/runtime-config.ts";
import { buildServiceVariableName } from "../config/service-databases.ts";
import { createCallingServicePrincipal, type ServiceAppFetch } from "../http/request-identity.ts";
import { createConnectionWait } from "./connection-wait.ts";
import { createInternalRequestSigner, type InternalRequestSigner } from "./internal-request-signing.ts";

/** Returns the environment variable for a service's URL, such as TILL_INGEST_URL. */
const urlVariableName = (service: ServiceName) => buildServiceVariableName(service, "URL");

const serviceUrlsSchema = z.object(
  Object.fromEntries(
    serviceNames.map((service) => [urlVariableName(service), z.url({ protocol: /^https?$/ }).optional()]),
  ),
);

/** Seconds for which requests wait for a connection to a service, from the first that found none; 0 to fail at once. */
export const connectWaitSecondsSchema = integerEnvSchema(0, 50).default(30);

export const connectWaitConfigSchema = z.object({ UPSTREAM_CONNECT_WAIT_SECONDS: connectWaitSecondsSchema });

/** The requests of this process for its own data that wait for one service. */
const waitingInternalRequests = { perProcess: 500 };

/** A service in another process, and the signer of a caller's requests to it. */
export interface RemoteService extends InternalRequestSigner {
  url: string;
  sendWhenConnected: ReturnType<typeof createConnectionWait>;
}

export interface InternalGetRequest {
  from: InternalCallerName;
  path: string;
  timeoutMs: number;
  /** Whether to wait for a service in another process that does not accept connections, because it is being replaced. */
  shouldWaitForConnection?: boolean;
  requestId?: string | undefined;
  traceparent?: string | undefined;
}

/** The registry of all services: the services in this process, and the URLs of services in other processes. */
export type ServiceRegistry = ReturnType<typeof createServiceRegistry>;

export function createServiceRegistry(environment: EnvironmentVariables) {
  const urls = readConfigFromEnvironment(serviceUrlsSchema, environment);
  const { UPSTREAM_CONNECT_WAIT_SECONDS } = readConfigFromEnvironment(connectWaitConfigSchema, environment);
  const localServices = new Map<ServiceName, ServiceAppFetch>();
  const remoteServices = new Map<string, RemoteService>();

  /** Returns undefined if the URL is not set or the service runs in this process. @throws `ConfigError` without a key. */
  function findRemoteService(service: ServiceName, from: InternalCallerName): RemoteService | undefined {
    const url = urls[urlVariableName(service)];
    if (url === undefined || localServices.has(service)) return undefined;
    const name = `${from} ${service}`;
    const remote = remoteServices.get(name) ?? {
      url,
      sendWhenConnected: createConnectionWait(url, 1000 * UPSTREAM_CONNECT_WAIT_SECONDS, waitingInternalRequests),
      ...createInternalRequestSigner(environment, from, service),
    };
    remoteServices.set(name, remote);
    return remote;
  }

  return {
    findRemoteService,
    registerLocalService: (service: ServiceName, fetch: ServiceAppFetch) => void localServices.set(service, fetch),
    /** Returns the fetch function of a service in this process, or undefined if the service runs in another process. */
    findLocalService: (service: ServiceName) => localServices.get(service),
    /** Returns the response, whatever its status. @throws `ApiError` service_unavailable when there is none. */
    async request(service: ServiceName, request: InternalGetRequest): Promise<Response> {
      const { from, path, timeoutMs, shouldWaitForConnection = false, requestId = randomUUID(), traceparent } = request;
      const origin = "http://internal";
      const localFetch = localServices.get(service);
      if (localFetch) {
        const signal = AbortSignal.timeout(timeoutMs);
        const principal = createCallingServicePrincipal(from, service);
        const response = localFetch(new Request(`http://${service}${path}`, { signal }), {
          requestIdentity: { principal, requestId, traceparent, origin },
        });
        // A service in this process does not stop when the signal is aborted, so only the wait for its response ends.
        return racePromiseWithAbort(Promise.resolve(response), signal).catch((cause) => {
          throw createServiceUnavailableError(service, cause);
        });
      }
      const remoteService = findRemoteService(service, from);
      if (!remoteService) throw createServiceUnavailableError(service);
      const url = new URL(path, remoteService.url);
      const target = url.pathname + url.search;
      const fetchOnce = () => {
        const headers = remoteService.sign({ method: "GET", target, requestId, traceparent, origin });
        return fetch(url, { headers, signal: AbortSignal.timeout(timeoutMs), redirect: "manual" });
      };
      const { signal } = new AbortController();
      const waiting = { sender: requestId, bodyBytes: 0, canBeRepeated: true, signal };
      const response = shouldWaitForConnection ? remoteService.sendWhenConnected(fetchOnce, waiting) : fetchOnce();
      return response.catch((cause) => {
        throw createServiceUnavailableError(service, cause);
      });
    },
  };
}

/** Returns the error for requests to an unavailable service. By default, the cause is that no URL is configured. */
export function createServiceUnavailableError(service: ServiceName, cause?: unknown): ApiError {
  return new ApiError("service_unavailable", {
    detail: `The ${service} service is unavailable. The request changed nothing. Retry shortly.`,
    cause: cause ?? new Error(`${urlVariableName(service)} is not set and ${service} does not run in this process.`),
  });
}
