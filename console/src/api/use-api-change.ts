import type { AdminApiClient } from "@pragma/client/api-client";
import { type UseMutationResult, useMutation, useQueryClient } from "@tanstack/react-query";
import { useSession } from "../session/session-context.tsx";

/** Changes something through the API. Afterwards, everything that the view shows is read again. */
export function useApiChange<Input, Output>(
  call: (api: AdminApiClient, input: Input) => Promise<{ data: Output }>,
): UseMutationResult<Output, Error, Input> {
  const { api } = useSession();
  const queryClient = useQueryClient();
  return useMutation({
    mutationFn: async (input: Input) => (await call(api, input)).data,
    onSuccess: () => queryClient.invalidateQueries(),
  });
}
