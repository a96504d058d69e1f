import { getRouteApi } from "@tanstack/react-router";
import { useState } from "react";
import { hasAnyScope } from "../session/session.ts";
import { useSession } from "../session/session-context.tsx";
import { text } from "../text/text.ts";
import { Button } from "../ui/button.tsx";
import { Page } from "../ui/page.tsx";
import { CreateKeyDialog } from "./create-key-dialog.tsx";
import { KeyList } from "./key-list.tsx";
import { OwnKey } from "./own-key.tsx";

const route = getRouteApi("/keys");

/** The keys that the signed-in key may manage, or only the signed-in key itself. */
export function KeysPage() {
  const { key } = useSession();
  const { create, location } = route.useSearch();
  const navigate = route.useNavigate();
  // Other views link to the dialog.
  const [isCreating, setIsCreating] = useState(create !== undefined);
  function closeDialog() {
    setIsCreating(false);
    if (create) void navigate({ search: (search) => ({ ...search, create: undefined }), replace: true });
  }
  if (!hasAnyScope(key, "keys:write"))
    return (
      <Page title={text.keys.title} summary={text.keys.ownSummary}>
        <OwnKey />
      </Page>
    );
  return (
    <Page
      title={text.keys.title}
      summary={text.keys.summary}
      actions={
        <Button variant="primary" onPress={() => setIsCreating(true)}>
          {text.keys.create}
        </Button>
      }
    >
      <KeyList />
      <OwnKey />
      {isCreating && (
        <CreateKeyDialog
          pointOfSaleLocationId={create === "pointOfSaleKey" ? location : undefined}
          onClose={closeDialog}
        />
      )}
    </Page>
  );
}
