// Asks for a token where the service wants one.
import { html, nothing } from './lit-html.js';
import { hasToken, setToken } from './service.js';
import { state } from './state.js';

/** The form; `given` is called when there is a token to try. */
export function view(given) {
  const submitted = (event) => {
    event.preventDefault();
    setToken(event.target.elements.token.value.trim());
    given();
  };
  return html`<main><form class="token" @submit=${submitted}>
    <h1>Onefold</h1>
    <p>This service asks for a token. It is kept until this tab is closed, and nowhere else.</p>
    ${state.tokenProblem === null || !hasToken() ? nothing : html`<p class="bad" role="alert">${state.tokenProblem}</p>`}
    <label for="token">Token</label>
    <input id="token" name="token" type="password" required autocomplete="off" autofocus>
    <button class="main">Go on</button>
  </form></main>`;
}
