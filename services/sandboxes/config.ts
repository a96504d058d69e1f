import { ConfigError, commonServiceConfigSchema, integerEnvSchema } from "@pragma/runtime/config/runtime-config";
import { z } from "zod";

const urlSchema = z.url({ protocol: /^https?$/ }).transform((url) => url.replace(/\/+$/, ""));

export const sandboxesServiceConfigSchema = z.object({
  /** Keys that encrypt the service's API keys for sandboxes, and the secrets of their inboxes. */
  DATA_KEYS: commonServiceConfigSchema.shape.DATA_KEYS,
  SANDBOXES: z.enum(["on", "off"]).default("off"),
  PORT: z.string().default("4000"),
  /** The gateway, of which this service is a client. By default, it is in the same process. */
  SANDBOX_API_URL: urlSchema.optional(),
  /** An API key with the scope `admin`, with which locations and API keys are created. By default, PRAGMA_ADMIN_KEY. */
  SANDBOX_OPERATOR_KEY: z.string().optional(),
  PRAGMA_ADMIN_KEY: z.string().optional(),
  /** The port of the inboxes, and their URL for the service webhooks, whose WEBHOOK_ALLOWLIST must allow it. */
  SANDBOX_INBOX_PORT: integerEnvSchema(0, 65_535).default(4010),
  SANDBOX_INBOX_HOST: z.string().default("127.0.0.1"),
  SANDBOX_INBOX_URL: urlSchema.optional(),
  /**
   * What removes ended sandboxes: this service, which then needs the databases of all services, or the operators' command
   * `sandboxes remove`. With `command`, the service only revokes their API keys.
   */
  SANDBOX_REMOVAL: z.enum(["service", "command"]).default("service"),
  SANDBOX_LIFETIME_DAYS: integerEnvSchema(1, 365).default(14),
  /** Maximum number of sandboxes at a time. */
  MAX_SANDBOXES: integerEnvSchema(1, 100_000).default(200),
  /** Maximum number of sandboxes that one client address (an IPv6 /64 network) may create in 24 hours. */
  MAX_SANDBOXES_PER_ADDRESS: integerEnvSchema(1, 100_000).default(5),
});

export type SandboxesConfig = z.output<typeof sandboxesServiceConfigSchema>;

/** Returns the URL of the API, and a key with every scope. @throws `ConfigError` if there is no key. */
export function getOperatorAccess(config: SandboxesConfig): { baseUrl: string; apiKey: string } {
  const { SANDBOX_API_URL: baseUrl = `http://127.0.0.1:${config.PORT}`, PRAGMA_ADMIN_KEY } = config;
  const { SANDBOX_OPERATOR_KEY: apiKey = PRAGMA_ADMIN_KEY } = config;
  if (apiKey) return { baseUrl, apiKey };
  throw new ConfigError(["SANDBOX_OPERATOR_KEY or PRAGMA_ADMIN_KEY: is required with SANDBOXES=on"]);
}
