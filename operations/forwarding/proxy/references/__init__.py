"""Resolves what requests only name: items and responses that their provider keeps.

OpenAI's Responses API keeps each response, so that a later request may continue from it by its id
alone (`previous_response_id`) or refer to its items (`item_reference`). All of them passed
through here: `kept` stores the items of replies by their ids, `history` gives what came before a
reply, and `expanding` puts both into a request, so that it is aligned as if its client had sent all
of it.
"""
