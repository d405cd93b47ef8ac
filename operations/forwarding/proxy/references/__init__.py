"""What requests name instead of saying it: items and responses that their provider keeps.

OpenAI's Responses keep each response, so that a later request may go on from it by its id alone
(`previous_response_id`) or name its items (`item_reference`). All of them came by here: `kept`
keeps the items of replies by their ids, `history` says what stood before a reply, and `telling`
puts both into a request, so that it is aligned as if its client had sent all of it.
"""
