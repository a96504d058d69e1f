import type { ApiSchemaTypes } from "@pragma/client";
import type { UseQueryResult } from "@tanstack/react-query";
import { readAllPages } from "./read-all-pages.ts";
import { type ApiResponse, useApi } from "./use-api.ts";

type AllLocations = ApiResponse<{ items: ApiSchemaTypes["Location"][]; isComplete: boolean }>;

/** Reads the newest locations, at most 1,000, with sandboxes. */
export const useAllLocations = ({ isEnabled = true } = {}): UseQueryResult<AllLocations> =>
  useApi(
    ["allLocations"],
    (api) =>
      readAllPages((page) => api.GET("/v1/locations", { params: { query: { ...page, includeSandboxes: "true" } } })),
    { isEnabled },
  );
