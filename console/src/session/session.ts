import { ApiProblem, type ApiSchemaTypes } from "@pragma/client";
import { type AdminApiClient, createAdminApiClient } from "@pragma/client/api-client";
import { MutationCache, QueryCache, QueryClient } from "@tanstack/react-query";

export type CurrentKey = ApiSchemaTypes["CurrentApiKey"];

/** The use of the console with one API key, from signing in to signing out. */
export interface Session {
  /** The API key itself. The session storage of the tab is the only place where it is stored. */
  apiKey: string;
  key: CurrentKey;
  api: AdminApiClient;
  /** Responses of this session. A session has its own, so that no response of one key appears under another. */
  queryClient: QueryClient;
}

/** Why the sign-in page is shown again: the reader signed out, or the API rejected the key. */
export type SignOutReason = { kind: "signedOut" } | { kind: "rejected"; problem: ApiProblem };

const storageName = "pragma.console.apiKey";

export const readStoredKey = (): string | null => sessionStorage.getItem(storageName);
export const storeKey = (apiKey: string): void => sessionStorage.setItem(storageName, apiKey);
export const removeStoredKey = (): void => sessionStorage.removeItem(storageName);

/**
 * Returns a session of this API key. `onRejected` is called when the API later rejects the key.
 * @throws `ApiProblem` with status 401 if the key is not valid, and other errors of the client
 */
export async function openSession(
  apiUrl: string,
  apiKey: string,
  onRejected: (problem: ApiProblem) => void,
): Promise<Session> {
  // Two retries take about two seconds. A reader who sees an error can try again.
  const api = createAdminApiClient({ baseUrl: apiUrl, apiKey, retries: 2 });
  // If the page is left before the response, the request still ends: the API counts canceled requests as failed.
  const { data: key } = await api.GET("/v1/auth/keys/current", { keepalive: true });
  const reportRejection = (error: unknown) => {
    if (isKeyRejection(error)) onRejected(error);
  };
  const queryClient = new QueryClient({
    queryCache: new QueryCache({ onError: reportRejection }),
    mutationCache: new MutationCache({ onError: reportRejection }),
    // The client of the API retries already. A request without a network must fail rather than wait, so that the reader
    // learns of it.
    defaultOptions: {
      queries: { retry: false, staleTime: 15_000, networkMode: "always" },
      mutations: { retry: false, networkMode: "always" },
    },
  });
  return { apiKey, key, api, queryClient };
}

export const isKeyRejection = (error: unknown): error is ApiProblem =>
  error instanceof ApiProblem && error.status === 401;

/** Whether the key has one of these scopes. The scope `admin` includes every scope. */
export function hasAnyScope({ scopes }: CurrentKey, ...wanted: CurrentKey["scopes"]): boolean {
  return scopes.includes("admin") || wanted.some((scope) => scopes.includes(scope));
}
