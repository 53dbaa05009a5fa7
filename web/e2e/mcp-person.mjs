// A person with a browser of their own, for the client in mcp-client.mjs: they
// start signed out, sign in where they are asked to, read the consent page and
// press a button.
import { chromium } from "playwright-core";

/** Opens the browser of a person who can sign in with the given account. */
export async function openPerson({ email, password }) {
  const browser = await chromium.launch({
    executablePath: process.env.CHECKSTACK_E2E_CHROMIUM ?? "/usr/bin/chromium",
    args: ["--headless", "--no-sandbox", "--disable-gpu", "--disable-background-networking"],
  });
  const page = await browser.newPage();
  page.setDefaultTimeout(30_000);
  const complaints = [];
  page.on("pageerror", (error) => complaints.push(error.message));
  page.on("console", (message) => {
    const text = message.text();
    // A refused request (nobody is signed in yet) is part of the story.
    if (message.type() === "error" && !text.startsWith("Failed to load resource")) complaints.push(text);
  });

  /** Follows an address to the question and answers it with the named button; tells what was seen. */
  async function decide(address, button) {
    await page.goto(address);
    const question = page.getByRole("heading", { name: /^Let .* in\?$/ });
    const form = page.getByLabel("Password");
    await question.or(form).first().waitFor();
    const signedOut = await form.isVisible();
    if (signedOut) {
      await page.getByLabel("Email").fill(email);
      await form.fill(password);
      await page.getByRole("button", { name: "Sign in" }).click();
      await question.waitFor();
    }
    const seen = { signedOut, path: new URL(page.url()).pathname, text: await page.getByRole("main").innerText() };
    await page.getByRole("button", { name: button, exact: true }).click();
    await page.waitForURL((url) => url.pathname === "/callback");
    return seen;
  }

  return { decide, complaints, close: () => browser.close() };
}
