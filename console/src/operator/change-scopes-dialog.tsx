import type { ApiSchemaTypes } from "@pragma/client";
import type { FormEvent } from "react";
import { useApiChange } from "../api/use-api-change.ts";
import { readScopes, type Scope, ScopeFields } from "../keys/scope-fields.tsx";
import { text } from "../text/text.ts";
import { Button } from "../ui/button.tsx";
import { Dialog } from "../ui/dialog.tsx";
import { ErrorNotice } from "../ui/error-notice.tsx";

interface ChangeScopesDialogProps {
  consumer: ApiSchemaTypes["Consumer"];
  onClose: () => void;
}

/** Changes what all keys of a consumer may do. */
export function ChangeScopesDialog({ consumer: { id, name, scopes: current }, onClose }: ChangeScopesDialogProps) {
  const change = useApiChange((api, scopes: Scope[]) =>
    api.PATCH("/v1/consumers/{id}", { params: { path: { id } }, body: { scopes } }),
  );
  function submit(event: FormEvent<HTMLFormElement>) {
    event.preventDefault();
    change.mutate(readScopes(new FormData(event.currentTarget)), { onSuccess: onClose });
  }
  return (
    <Dialog title={text.operator.changeScopesOf(name)} isOpen onClose={onClose}>
      <form className="form" onSubmit={submit}>
        <p>{text.operator.changeScopesHint}</p>
        <ScopeFields selected={current} />
        {change.error && <ErrorNotice error={change.error} />}
        <div className="actions actions-end">
          <Button onPress={onClose}>{text.dialog.cancel}</Button>
          <Button type="submit" variant="primary" isPending={change.isPending}>
            {text.operator.saveScopes}
          </Button>
        </div>
      </form>
    </Dialog>
  );
}
