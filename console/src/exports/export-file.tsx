import { DownloadButton, type DownloadButtonProps } from "./download-button.tsx";

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
