import { useState } from "react";
import { hasAnyScope } from "../session/session.ts";
import { useSession } from "../session/session-context.tsx";
import { text } from "../text/text.ts";
import { Button } from "../ui/button.tsx";
import { Page } from "../ui/page.tsx";
import { CreateKeyDialog } from "./create-key-dialog.tsx";
import { KeyList } from "./key-list.tsx";
import { OwnKey } from "./own-key.tsx";

/** The keys that the signed-in key may manage, or only the signed-in key itself. */
export function KeysPage() {
  const { key } = useSession();
  const [isCreating, setIsCreating] = useState(false);
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
      {isCreating && <CreateKeyDialog onClose={() => setIsCreating(false)} />}
    </Page>
  );
}
