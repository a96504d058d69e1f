import { useApiChange } from "../api/use-api-change.ts";
import { useSession } from "../session/session-context.tsx";
import { text } from "../text/text.ts";
import { Button } from "../ui/button.tsx";
import { Dialog } from "../ui/dialog.tsx";
import { ErrorNotice } from "../ui/error-notice.tsx";
import { type ApiKey, nameOfLocation } from "./api-key.ts";

/** Asks for a confirmation that names the key, and revokes it. */
export function RevokeKeyDialog({ apiKey, onClose }: { apiKey: ApiKey; onClose: () => void }) {
  const { key, signOut } = useSession();
  const isOwn = apiKey.id === key.id;
  const revocation = useApiChange((api, id: string) => api.DELETE("/v1/auth/keys/{id}", { params: { path: { id } } }));
  const { prefix, consumerName } = apiKey;
  return (
    <Dialog title={text.keys.revokeOf(`${prefix}…`)} isOpen onClose={onClose}>
      <p>{text.keys.revokeHint(prefix, consumerName, nameOfLocation(apiKey))}</p>
      {isOwn && <p>{text.keys.revokeOwn}</p>}
      {revocation.error && <ErrorNotice error={revocation.error} />}
      <div className="actions actions-end">
        <Button onPress={onClose}>{text.dialog.cancel}</Button>
        <Button
          variant="danger"
          isPending={revocation.isPending}
          onPress={() => revocation.mutate(apiKey.id, { onSuccess: () => (isOwn ? signOut() : onClose()) })}
        >
          {text.keys.revoke}
        </Button>
      </div>
    </Dialog>
  );
}
