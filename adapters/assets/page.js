// Nothing here is needed: every page works without it. It keeps numbers fresh and asks before what cannot be undone.
"use strict";

const REFRESH_MS = 5000;

// Takes the part that is live from the same page again, unless somebody is in it or looks elsewhere.
async function refresh(region) {
  if (document.hidden || region.contains(document.activeElement)) return;
  const answer = await fetch(location.href, { headers: { accept: "text/html" }, redirect: "error" });
  if (!answer.ok) return;
  const page = new DOMParser().parseFromString(await answer.text(), "text/html");
  const fresh = page.getElementById(region.id);
  if (!fresh || fresh.innerHTML === region.innerHTML) return;
  region.replaceChildren(...fresh.childNodes);
  tell(fresh.dataset.told);
}

// Says what has changed to those who listen rather than look; only when it is another sentence.
function tell(sentence) {
  const place = document.getElementById("told");
  if (place && sentence && place.textContent !== sentence) place.textContent = sentence;
}

for (const region of document.querySelectorAll("[data-live]")) {
  tell(region.dataset.told);
  setInterval(() => refresh(region).catch(() => {}), REFRESH_MS);
}

document.addEventListener("submit", (event) => {
  const question = event.submitter?.dataset.ask;
  if (question && !window.confirm(question)) event.preventDefault();
});

for (const box of document.querySelectorAll("input[data-picks]")) {
  const picks = () => document.querySelectorAll(`input[name="${box.dataset.picks}"]`);
  box.closest("[hidden]")?.removeAttribute("hidden");
  box.addEventListener("change", () => picks().forEach((pick) => (pick.checked = box.checked)));
}
