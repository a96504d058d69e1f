import { type ServiceName, serviceNames } from "@pragma/contracts/service-names";
import { z } from "zod";
import type { EnvironmentVariables } from "./environment-variables.ts";
import { ConfigError, commonServiceConfigSchema, readConfigFromEnvironment } from "./runtime-config.ts";

/** Returns a variable of one service, such as `TILL_INGEST_DATABASE_URL` for `till-ingest` and `DATABASE_URL`. */
export const buildServiceVariableName = (service: string, name: string) =>
  `${service.toUpperCase().replaceAll("-", "_")}_${name}`;

export const buildDatabaseUrlVariableName = (service: string) => buildServiceVariableName(service, "DATABASE_URL");

export const buildOwnerDatabaseUrlVariableName = (service: string) =>
  buildServiceVariableName(service, "OWNER_DATABASE_URL");

/** Returns the environment of one service, in which DATABASE_URL is the service's own database if it has one. */
export function selectServiceDatabase(environment: EnvironmentVariables, service: string): EnvironmentVariables {
  const url = environment[buildDatabaseUrlVariableName(service)];
  return url ? { ...environment, DATABASE_URL: url } : environment;
}

const urlSchema = commonServiceConfigSchema.shape.DATABASE_URL.optional();
export const databaseUrlsSchema = z.object({
  DATABASE_URL: urlSchema,
  ...Object.fromEntries(
    serviceNames.flatMap((service) => [
      [buildDatabaseUrlVariableName(service), urlSchema],
      [buildOwnerDatabaseUrlVariableName(service), urlSchema],
    ]),
  ),
});

interface ServiceDatabaseUrls {
  owner: string;
  /** The URL with which the service connects, if it has a variable of its own. */
  service: string | undefined;
}

/**
 * Returns the database URLs of services. Without `<SERVICE>_OWNER_DATABASE_URL`, the owner's is DATABASE_URL, unless
 * `<SERVICE>_DATABASE_URL` names another database. @throws `ConfigError`
 */
export function readServiceDatabaseUrls<Service extends ServiceName>(
  environment: EnvironmentVariables,
  services: readonly Service[],
): Record<Service, ServiceDatabaseUrls> {
  const urls: Record<string, string | undefined> = readConfigFromEnvironment(databaseUrlsSchema, environment);
  const issues: string[] = [];
  const entries = services.map((name) => {
    const service = urls[buildDatabaseUrlVariableName(name)];
    const isSharedDatabase =
      urls.DATABASE_URL && (!service || describeDatabase(service) === describeDatabase(urls.DATABASE_URL));
    const owner =
      urls[buildOwnerDatabaseUrlVariableName(name)] ?? (isSharedDatabase ? urls.DATABASE_URL : service) ?? "";
    if (!owner) issues.push(`DATABASE_URL or ${buildDatabaseUrlVariableName(name)}: is required for ${name}`);
    return [name, { owner, service }] as const;
  });
  if (issues.length > 0) throw new ConfigError(issues);
  return Object.fromEntries(entries) as Record<Service, ServiceDatabaseUrls>;
}

/** Returns the host, port and name of the database in a URL. The result is the same for all roles, without a password. */
export function describeDatabase(databaseUrl: string): string {
  const { hostname, port, pathname, username, searchParams } = new URL(databaseUrl);
  const name = decodeURIComponent(pathname.slice(1)) || decodeURIComponent(username);
  return `${searchParams.get("host") || hostname || "localhost"}:${port || searchParams.get("port") || "5432"}/${name}`;
}
