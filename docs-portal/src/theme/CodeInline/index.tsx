import { type ComponentProps, Fragment, type ReactNode } from "react";

/**
 * The places inside a token where a line may break: after a separator, and between the words of a long camel-case name.
 * The parts of a number, a time or the name of a header stay together.
 */
const separator = /(?<=[/_.:=?&,])(?=[A-Za-z_])/;
const camelCaseWord = /(?<=[a-z])(?=[A-Z])/;

/** The maximum length of a token that stays on one line, so that it fits on a line of a phone. */
const maxShortTokenLength = 26;
/** The maximum length of a token that stays on one line on a desktop. */
const maxMediumTokenLength = 45;

/** Renders inline code. A token that is too long for its line breaks between its words, not inside a word. */
export default function CodeInline({ children, ...props }: ComponentProps<"code">): ReactNode {
  if (typeof children !== "string") return <code {...props}>{children}</code>;
  // A URL is not split, because the server of the site replaces the URLs of the API and of the site in the pages.
  const parts = children.includes("://") ? [children] : splitToken(children);
  return (
    <code className={lengthClass(children.length)} {...props}>
      {parts.map((part, index) => (
        // biome-ignore lint/suspicious/noArrayIndexKey: the parts of a token never change their order
        <Fragment key={index}>
          {index > 0 && <wbr />}
          {part.includes("-") && parts.length > 1 ? <span className="short-token">{part}</span> : part}
        </Fragment>
      ))}
    </code>
  );
}

function splitToken(token: string) {
  return token
    .split(separator)
    .flatMap((part) => (part.length > maxShortTokenLength ? part.split(camelCaseWord) : [part]));
}

function lengthClass(length: number) {
  if (length <= maxShortTokenLength) return "short-token";
  return length <= maxMediumTokenLength ? "medium-token" : undefined;
}
