import type { ReactElement, ReactNode } from "react";
import { text } from "../text/text.ts";
import { Section } from "../ui/section.tsx";
import { DownloadButton, type DownloadButtonProps } from "./download-button.tsx";

interface ExportFilesProps {
  /** Shown if there is no file. */
  empty: string;
  actions?: ReactNode;
  children: ReactElement<ExportFileProps>[];
}

/** The section with the files of an export. */
export const ExportFiles = ({ empty, actions, children }: ExportFilesProps) => (
  <Section title={text.exports.files} actions={actions}>
    {children.length === 0 ? <p className="empty">{empty}</p> : <ul className="cards">{children}</ul>}
  </Section>
);

interface ExportFileProps extends Pick<DownloadButtonProps, "name" | "bytes" | "open"> {
  /** What the file contains, and its size. */
  details: readonly string[];
}

/** A file of an export in a list. A card, because the button must be within a narrow screen. */
export const ExportFile = ({ details, ...file }: ExportFileProps) => (
  <li className="card">
    <div className="card-header">
      <code className="card-title">{file.name}</code>
      <DownloadButton {...file} />
    </div>
    <p className="card-meta">
      {details.map((detail) => (
        <span key={detail}>{detail}</span>
      ))}
    </p>
  </li>
);
