import { type FormEvent, useId, useState } from "react";
import { useApiChange } from "../api/use-api-change.ts";
import { useSession } from "../session/session-context.tsx";
import { text } from "../text/text.ts";
import { Button } from "../ui/button.tsx";
import { Dialog } from "../ui/dialog.tsx";
import { ErrorNotice } from "../ui/error-notice.tsx";
import { Moment } from "../ui/moment.tsx";
import type { ApiKey } from "./api-key.ts";
import { NewKey } from "./new-key.tsx";

const defaultOverlapSeconds = "86400";

/** Replaces a key by a new one, which is shown once, and states until when the previous one works. */
export function RotateKeyDialog({ apiKey, onClose }: { apiKey: ApiKey; onClose: () => void }) {
  const id = useId();
  const { key, continueWithKey } = useSession();
  const [isLeaked, setIsLeaked] = useState(false);
  // After the rotation, the signed-in key is another one.
  const [isOwn] = useState(apiKey.id === key.id);
  const rotation = useApiChange(async (api, body: { overlapSeconds: number; isLeaked: boolean }) => {
    const params = { path: { id: apiKey.id } };
    const { data } = await api.POST("/v1/auth/keys/{id}/rotate", { params, body });
    // The previous key stops working, at once if it leaked. If the change fails, the new key must still be shown.
    const isSignedInWithNew =
      isOwn &&
      (await continueWithKey(data.apiKey).then(
        () => true,
        () => false,
      ));
    return { data: { ...data, wasLeaked: body.isLeaked, isSignedInWithNew } };
  });
  function submit(event: FormEvent<HTMLFormElement>) {
    event.preventDefault();
    const overlapSeconds = Number(new FormData(event.currentTarget).get("overlap") ?? defaultOverlapSeconds);
    rotation.mutate({ overlapSeconds, isLeaked });
  }
  const rotated = rotation.data;
  return (
    <Dialog title={text.keys.rotateOf(`${apiKey.prefix}…`)} isOpen isKept={rotated !== undefined} onClose={onClose}>
      {rotated ? (
        <NewKey apiKey={rotated.apiKey} onDone={onClose}>
          {rotated.wasLeaked ? (
            text.keys.previousEnded
          ) : (
            <>
              {text.keys.previousEnds} <Moment at={rotated.previousKeyExpiresAt} />.
            </>
          )}{" "}
          {rotated.expiresAt !== null && (
            <>
              {text.keys.newKeyExpires} <Moment at={rotated.expiresAt} />.
            </>
          )}{" "}
          {rotated.isSignedInWithNew && text.keys.signedInWithNew}
        </NewKey>
      ) : (
        <form className="form" onSubmit={submit}>
          <p>{text.keys.rotateHint}</p>
          <div className="field">
            <label htmlFor={`${id}-overlap`}>{text.keys.overlap}</label>
            <select id={`${id}-overlap`} name="overlap" defaultValue={defaultOverlapSeconds} disabled={isLeaked}>
              {Object.entries(text.keys.overlaps).map(([seconds, duration]) => (
                <option key={seconds} value={seconds}>
                  {duration}
                </option>
              ))}
            </select>
          </div>
          <label className="checkbox">
            <input type="checkbox" checked={isLeaked} onChange={({ target }) => setIsLeaked(target.checked)} />
            {text.keys.leaked}
          </label>
          {rotation.error && <ErrorNotice error={rotation.error} />}
          <div className="actions actions-end">
            <Button onPress={onClose}>{text.dialog.cancel}</Button>
            <Button type="submit" variant="danger" isPending={rotation.isPending}>
              {text.keys.rotate}
            </Button>
          </div>
        </form>
      )}
    </Dialog>
  );
}
