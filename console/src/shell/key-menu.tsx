import { Button as AriaButton } from "react-aria-components/Button";
import { Dialog, DialogTrigger } from "react-aria-components/Dialog";
import { Popover } from "react-aria-components/Popover";
import { useSession } from "../session/session-context.tsx";
import { text } from "../text/text.ts";
import { Button } from "../ui/button.tsx";
import { Facts } from "../ui/facts.tsx";
import { ChevronIcon } from "../ui/icons.tsx";

/** The key that is signed in: what it may do, until when, and signing out. */
export function KeyMenu() {
  const { key, signOut, formats, installation } = useSession();
  return (
    <DialogTrigger>
      <AriaButton className="button button-quiet key-button" aria-label={text.key.menu(key.consumer.name)}>
        <span className="key-name">{key.consumer.name}</span>
        <ChevronIcon />
      </AriaButton>
      <Popover className="popover key-popover" placement="bottom end">
        <Dialog className="dialog" aria-label={text.key.title}>
          <Facts
            facts={[
              [text.key.consumer, key.consumer.name],
              [text.key.prefix, <code key="prefix">{key.prefix}…</code>],
              [text.key.location, key.location?.name],
              [text.key.timeZone, key.location?.timezone],
              [text.key.currency, key.location?.currencyCode],
              [text.key.expires, key.expiresAt === null ? text.key.never : formats.dateTime(key.expiresAt)],
              [
                text.key.rateLimit,
                text.key.perSecond(formats.number(key.rateLimit.perSecond), formats.number(key.rateLimit.burst)),
              ],
              [text.key.scopes, <Scopes key="scopes" scopes={key.scopes} />],
              [text.key.api, <code key="api">{installation.apiUrl}</code>],
            ]}
          />
          <p>
            <a href={installation.docsUrl}>{text.key.documentation}</a>
          </p>
          <Button variant="secondary" onPress={() => signOut()}>
            {text.key.signOut}
          </Button>
        </Dialog>
      </Popover>
    </DialogTrigger>
  );
}

const Scopes = ({ scopes }: { scopes: readonly string[] }) => (
  <ul className="plain-list">
    {scopes.map((scope) => (
      <li key={scope}>
        <code>{scope}</code>
      </li>
    ))}
  </ul>
);
