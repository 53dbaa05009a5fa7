/** The sentence that asks the assistant to watch an address; undefined when it is not one. */
export function monitorSentence(address: string): { text: string; url: string } | undefined {
  const trimmed = address.trim();
  const candidate = /^[a-z][a-z0-9+.-]*:\/\//i.test(trimmed) ? trimmed : `https://${trimmed}`;
  if (trimmed === "" || /\s/.test(trimmed) || !URL.canParse(candidate)) return undefined;
  const url = new URL(candidate);
  if (url.protocol !== "http:" && url.protocol !== "https:") return undefined;
  return { text: `monitor ${url.href} every 60 seconds as "${url.host}"`, url: url.href };
}
